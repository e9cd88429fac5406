"""refdesk: a reference desk for AI agents over local documentation."""

__version__ = "0.1.0"
