"""How a person's editor is told to open a file at a line."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

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
