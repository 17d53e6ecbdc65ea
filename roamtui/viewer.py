"""Opens a file in another program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread


def open_in_viewer(file: Path) -> bool:
    """Open a file in the system's program for it. Return False without a display or such a program."""
    if sys.platform == "darwin":
        command = ["open"]
    elif sys.platform == "win32":
        command = ["explorer"]
    else:
        command = ["xdg-open"] if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") else []
    program = shutil.which(command[0]) if command else None
    if program is None:
        return False
    with suppress(OSError):
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(  # noqa: S603 - no shell
            [program, str(file)], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
        )
        Thread(target=process.wait, daemon=True).start()  # it may stay open for hours
        return True
    return False
