"""How a person's editor is told to open a file at a line."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from roamtui.sources.convert.formats import SLOW_SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from roamtui.document.library import Library

_PLUS_LINE = frozenset({"vi", "vim", "nvim", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "ne", "mg", "ed"})
_COLON_LINE = frozenset({"hx", "helix", "subl", "zed"})
_GOTO = frozenset({"code", "codium", "cursor"})


def choose_editor(environment: Mapping[str, str]) -> str | None:
    """Return the command that the environment names as editor, None where it names none."""
    return environment.get("VISUAL") or environment.get("EDITOR") or None


def build_editor_command(editor: str, file: Path, line: int) -> list[str]:
    """Return the command that opens `file` at a 1-based line, without the line for an editor that is not known."""
    words = shlex.split(editor)
    name = Path(words[0]).name if words else ""
    if name in _PLUS_LINE:
        return [*words, f"+{line}", str(file)]
    if name in _COLON_LINE:
        return [*words, f"{file}:{line}"]
    if name in _GOTO:
        return [*words, "--goto", f"{file}:{line}"]
    return [*words, str(file)]


def is_editable(file: Path) -> bool:
    """Return whether a file is the text that is shown, and not one that this was converted from."""
    return file.suffix.lower() not in SLOW_SUFFIXES


def find_source_file(library: Library, section_id: str) -> Path | None:
    """Return the file on this machine that a section stands in, None where there is none, as for an archive."""
    source = Path(library.source)
    if not library.root.columns.has_files:
        return source if source.is_file() and not library.node(section_id).doc else None
    file = source / library.node(section_id).doc
    return file if source.is_dir() and file.is_file() else None
