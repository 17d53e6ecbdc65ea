"""Whether the program can go into the background. Knows no screen."""

from __future__ import annotations

import os


def is_job_of_shell() -> bool:
    """Return whether a shell has this very process as a job, and can bring it back.

    Without one, or where `make` or another program stands between, a stopped program would block its terminal for good.
    """
    if os.name != "posix":
        return False
    parent = os.getppid()
    try:
        return os.getpgid(parent) != os.getpgrp() and os.getsid(parent) == os.getsid(0)
    except OSError:
        return False
