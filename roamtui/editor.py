"""The person's own editor, as the environment names it."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

_PLUS_LINE = frozenset({"vi", "vim", "nvim", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "ne", "mg", "ed"})
_COLON_LINE = frozenset({"hx", "helix", "subl", "zed"})
_GOTO = frozenset({"code", "codium", "cursor"})


def find_editor() -> str:
    """Return the command of the editor; empty if none is set."""
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""


def build_editor_command(editor: str, file: Path, line: int = 0) -> list[str]:
    """Return the command that opens a file, at a 1-based line if one is given and the editor is known.

    Raises:
        ValueError: The editor's command has an opening quotation mark without a closing one.
    """
    words = _split_on_windows(editor) if os.name == "nt" else shlex.split(editor)
    name = Path(words[0]).stem if words and line else ""
    if name in _PLUS_LINE:
        return [*words, f"+{line}", str(file)]
    if name in _COLON_LINE:
        return [*words, f"{file}:{line}"]
    if name in _GOTO:
        return [*words, "--goto", f"{file}:{line}"]
    return [*words, str(file)]


def _split_on_windows(editor: str) -> list[str]:
    # A backslash separates folders, a path may hold blanks without marks, and `code` is a script, code.cmd.
    if program := shutil.which(editor.strip('"')):
        return [program]
    words = [word.strip('"') for word in shlex.split(editor, posix=False)]
    return [shutil.which(word) or word for word in words[:1]] + words[1:]
