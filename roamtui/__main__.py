"""Makes `python -m roamtui` run `roamtui`."""

import sys

from roamtui.cli import main

if __name__ == "__main__":
    sys.exit(main())
