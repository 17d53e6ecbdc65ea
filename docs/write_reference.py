"""Writes what is generated into README.md and the pages of this folder: `make docs`.

A page marks each place by a pair of comments, such as ``<!-- keys -->`` and ``<!-- /keys -->``. `_TABLES`
names the tables; ``<!-- table -->`` is a table that the offline model fills, and ``<!-- roamtui ask --help
-->`` is what that command prints.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from roamtui.convert.formats import FORMATS
from roamtui.tui.actions import ACTIONS, SCOPE_TITLES, Action

_PROJECT = Path(__file__).resolve().parents[1]
_COLUMNS = "80"
_MAIN_ACTIONS = (
    "global.next_pane",
    "global.back",
    "tree.fold",
    "tree.read",
    "section.open",
    "section.close",
    "section.pin",
    "section.note",
    "global.choose_model",
    "global.find",
    "global.help",
)
"""The eleven keys that the README shows, by action id."""


def list_pages() -> list[Path]:
    """Return every page that may hold something generated."""
    return [_PROJECT / "README.md", *sorted((_PROJECT / "docs").glob("*.md"))]


def fill_blocks(text: str) -> str:
    """Return a page with everything between its marks made anew."""
    return _BLOCK.sub(lambda block: f"{block.group(1)}{_make_block(block.group(2))}{block.group(4)}", text)


def _make_block(name: str) -> str:
    if name in _TABLES:
        return _TABLES[name]()
    if name == "table":
        return f"\n{_run_table()}\n"
    return f"```text\n{_run(name.split()[1:])}```\n"


def _render_all_keys() -> str:
    lines = ["| where | key | does | id |", "|---|---|---|---|"]
    for scope in SCOPE_TITLES:
        lines += [
            f"| {action.place} | {_show_keys(action)} | {action.help} | `{action.id}` |"
            for action in ACTIONS
            if action.scope is scope
        ]
    return "\n".join(lines) + "\n"


def _render_main_keys() -> str:
    actions = {action.id: action for action in ACTIONS}
    lines = ["| key | where | does |", "|---|---|---|"]
    for action in map(actions.__getitem__, _MAIN_ACTIONS):
        lines.append(f"| {_show_keys(action)} | {action.place} | {action.help} |")
    return "\n".join(lines) + "\n"


def _show_keys(action: Action) -> str:
    return " ".join(f"`{key}`" for key in action.key_names)


def _render_formats() -> str:
    lines = ["| format | files | needs |", "|---|---|---|"]
    for each in FORMATS:
        suffixes = " ".join(f"`{suffix}`" for suffix in each.suffixes)
        lines.append(f"| {each.name} | {suffixes} | {f'`roamtui[{each.extra}]`' if each.extra else ''} |")
    return "\n".join(lines) + "\n"


_TABLES: Mapping[str, Callable[[], str]] = {
    "formats": _render_formats,
    "keys": _render_all_keys,
    "main keys": _render_main_keys,
}
_BLOCK = re.compile(
    rf"(<!-- ({'|'.join(_TABLES)}|table|roamtui(?: [a-z]+)? --help) -->\n)(.*?)(<!-- /\2 -->)", re.DOTALL
)


def _run(arguments: Sequence[str]) -> str:
    """Return what a command prints in a home of its own."""
    command = [sys.executable, "-m", "roamtui", *arguments]
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "ROAMTUI_"))}
    with TemporaryDirectory() as home:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.defpath])  # so that help names no folder
        environ |= {"COLUMNS": _COLUMNS, "HOME": home, "PATH": path}
        done = subprocess.run(  # noqa: S603
            command, env=environ, cwd=_PROJECT, capture_output=True, text=True, check=True
        )
    return done.stdout


def _run_table() -> str:
    """Return a table as Markdown, with its headings as those of a part of a page."""
    with TemporaryDirectory(dir=_PROJECT / "docs") as folder:
        output = Path(folder) / "table.md"
        pages = [f"examples/pages/{name}.md" for name in ("fees", "visiting")]
        _run(["table", *pages, "-q", "What does damage cost?", "--mode", "keyword", "-o", str(output)])
        text = re.sub(r"[\d-]{10} [\d:]{5} UTC", "2026-01-31 12:00 UTC", output.read_text("utf-8"))
        return re.sub(r"^#", "###", text, flags=re.MULTILINE).replace("(../../", "(../")


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
