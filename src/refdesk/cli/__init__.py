"""argv and environment in, a running process or an exit code out: one file per command."""
