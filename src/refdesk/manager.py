"""Query in, fused hits out; ref in, document out.

CorpusManager owns deadlines, limits, caches and reload; adapters stay blocking and simple.
"""
