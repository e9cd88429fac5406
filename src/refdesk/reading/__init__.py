"""Raw Markdown, AsciiDoc and text in, outlines and clean Markdown out. Pure: no I/O here."""
