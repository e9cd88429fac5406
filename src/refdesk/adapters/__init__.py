"""One manifest entry in, an open library out: one file per corpus kind."""
