"""`python -m refdesk` in, the exit code of the command line out."""

from refdesk.cli.main import main

raise SystemExit(main())
