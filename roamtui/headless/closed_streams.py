"""Stands something in for standard streams that were closed before the program began."""

from __future__ import annotations

import os
import sys


def open_closed_streams() -> None:
    """Open the closed ones of the three standard streams on nothing.

    Otherwise the next file to be opened, such as that of the conversations, would be what libraries write warnings to.
    Input is empty then and notes are dropped; writing a result fails, because it would be lost.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_WRONLY if descriptor == 2 else os.O_RDONLY)  # takes the lowest that is free
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - open for the program's life
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - likewise
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - likewise
