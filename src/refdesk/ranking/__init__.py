"""Tokens, scores and lists in, ordered keys out. Pure: no I/O here."""
