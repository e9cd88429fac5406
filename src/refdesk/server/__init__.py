"""HTTP or stdio messages in, tool results out."""
