"""Writes what is generated into README.md and the pages of this folder: `make docs`.

A page marks the place: ``<!-- keys -->`` to ``<!-- /keys -->`` for the table of keys, and
``<!-- roamtui ask --help -->`` to ``<!-- /roamtui ask --help -->`` for what that command prints.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from roamtui.tui.actions import render_key_table

_PROJECT = Path(__file__).resolve().parents[1]
_BLOCK = re.compile(r"(<!-- (keys|roamtui(?: [a-z]+)? --help) -->\n)(.*?)(<!-- /\2 -->)", re.DOTALL)
_COLUMNS = "80"


def list_pages() -> list[Path]:
    """Return every page that may hold something generated."""
    return [_PROJECT / "README.md", *sorted((_PROJECT / "docs").glob("*.md"))]


def fill_blocks(text: str) -> str:
    """Return a page with everything between its marks made anew."""
    return _BLOCK.sub(lambda block: f"{block.group(1)}{_make_block(block.group(2))}{block.group(4)}", text)


def _make_block(name: str) -> str:
    if name == "keys":
        return f"{render_key_table().strip()}\n"
    return f"```text\n{_read_help(name.split()[1:])}```\n"


def _read_help(arguments: list[str]) -> str:
    command = [sys.executable, "-m", "roamtui", *arguments]
    environ = {**os.environ, "COLUMNS": _COLUMNS}
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout  # noqa: S603


def main() -> int:
    """Write every page that has changed, and say which."""
    for page in list_pages():
        before = page.read_text("utf-8")
        after = fill_blocks(before)
        if after != before:
            page.write_text(after, "utf-8")
            sys.stdout.write(f"Wrote {page.relative_to(_PROJECT)}.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
