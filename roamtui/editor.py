"""The command that opens a file in the person's own editor, which the environment names."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

_PLACES = {
    **dict.fromkeys(
        ["vi", "vim", "nvim", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "ne", "mg", "ed"],
        ("+{line}", "{file}"),
    ),
    **dict.fromkeys(["hx", "helix", "subl", "zed"], ("{file}:{line}",)),
    **dict.fromkeys(["code", "codium", "cursor"], ("--goto", "{file}:{line}")),
}
"""The way in which an editor takes a file and a line."""


def find_editor() -> str:
    """Return the command of the editor, or an empty text if no editor is set."""
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""


def build_editor_command(editor: str, file: Path, line: int = 0) -> list[str]:
    """Return the command that opens a file, if possible at a line. Lines count from 1, and 0 means no line.

    Raises:
        ValueError: The editor's command has an opening quotation mark without a closing one.
    """
    words = _split_on_windows(editor) if os.name == "nt" else shlex.split(editor)
    places = _PLACES.get(Path(words[0]).stem) if words and line else None
    return [*words, *(place.format(file=file, line=line) for place in places or ("{file}",))]


def _split_on_windows(editor: str) -> list[str]:
    # A backslash separates folders, a path may contain spaces outside quotation marks, and `code` is
    # code.cmd.
    if program := shutil.which(editor.strip('"')):
        return [program]
    words = [word.strip('"') for word in shlex.split(editor, posix=False)]
    return [shutil.which(word) or word for word in words[:1]] + words[1:]
