"""refdesk: a reference desk for AI agents over local documentation."""

from typing import Final

__version__: Final = "0.1.0"
