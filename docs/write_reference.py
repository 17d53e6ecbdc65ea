"""Writes what is generated into README.md and the pages of this folder: `make docs`.

A page marks the place: ``<!-- keys -->`` to ``<!-- /keys -->`` for the table of keys, ``<!-- example -->`` for a
question to the offline model, and ``<!-- roamtui ask --help -->`` to ``<!-- /roamtui ask --help -->`` for what that
command prints.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from roamtui.tui.actions import ACTIONS, SCOPE_TITLES, show_key

_PROJECT = Path(__file__).resolve().parents[1]
_BLOCK = re.compile(r"(<!-- (keys|example|roamtui(?: [a-z]+)? --help) -->\n)(.*?)(<!-- /\2 -->)", re.DOTALL)
_EXAMPLE = ("ask", "examples/handbook.md", "Can I drop the folding bike off in the night locker on my way home?")
_COLUMNS = "80"


def list_pages() -> list[Path]:
    """Return every page that may hold something generated."""
    return [_PROJECT / "README.md", *sorted((_PROJECT / "docs").glob("*.md"))]


def fill_blocks(text: str) -> str:
    """Return a page with everything between its marks made anew."""
    return _BLOCK.sub(lambda block: f"{block.group(1)}{_make_block(block.group(2))}{block.group(4)}", text)


def _make_block(name: str) -> str:
    if name == "keys":
        return _render_key_table()
    if name == "example":
        command, document, question = _EXAMPLE
        return f'```text\n$ roamtui {command} {document} "{question}"\n\n{_run(_EXAMPLE)}```\n'
    return f"```text\n{_run(name.split()[1:])}```\n"


def _render_key_table() -> str:
    """Return what a person can do by key as a table, place by place."""
    lines = ["| where | key | does |", "|---|---|---|"]
    for scope, title in SCOPE_TITLES.items():
        for action in ACTIONS:
            if action.scope is scope:
                keys = " ".join(f"`{show_key(key)}`" for key in action.keys)
                lines.append(f"| {title} | {keys} | {action.help} |")
    return "\n".join(lines) + "\n"


def _run(arguments: Sequence[str]) -> str:
    """Return what a command prints in a home of its own."""
    command = [sys.executable, "-m", "roamtui", *arguments]
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "ROAMTUI_"))}
    with TemporaryDirectory() as home:
        environ |= {"COLUMNS": _COLUMNS, "HOME": home}
        done = subprocess.run(  # noqa: S603
            command, env=environ, cwd=_PROJECT, capture_output=True, text=True, check=True
        )
    return done.stdout


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
