"""The only importers of engines: paths and queries in, rows, entries and keys out."""
