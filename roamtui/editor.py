"""Starts the person's own programs: the editor that the environment names, and a file's viewer."""

import os
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread

_LINE_ARGUMENTS = {
    **dict.fromkeys(
        ["vi", "vim", "nvim", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "ne", "mg", "ed"],
        ("+{line}", "{file}"),
    ),
    **dict.fromkeys(["hx", "helix", "subl", "zed"], ("{file}:{line}",)),
    **dict.fromkeys(["code", "codium", "cursor"], ("--goto", "{file}:{line}")),
}
"""By editor: the arguments that open a file at a line."""


def get_editor() -> str:
    """Return the command of the editor, or an empty string if no editor is set."""
    return os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "").strip()


def make_editor_command(editor: str, file: Path, line: int = 0) -> list[str]:
    """Return the command that opens a file, if possible at a line. Lines count from 1, and 0 means no line.

    Raises:
        ValueError: The editor's command has an opening quotation mark without a closing one.
    """
    words = _split_on_windows(editor) if os.name == "nt" else shlex.split(editor)
    arguments = _LINE_ARGUMENTS.get(Path(words[0]).stem) if line else None
    return [*words, *(argument.format(file=file, line=line) for argument in arguments or ("{file}",))]


def open_in_viewer(file: Path) -> bool:
    """Open a file in the system's program for it. Return False without a display or such a program."""
    own = {"darwin": "open", "win32": "explorer"}.get(sys.platform)
    if own is None and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    program = shutil.which(own or "xdg-open")
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


def _split_on_windows(editor: str) -> list[str]:
    # A backslash separates folders, a path may contain spaces outside quotation marks, and `code` is
    # code.cmd.
    if program := shutil.which(editor.strip('"')):
        return [program]
    words = [word.strip('"') for word in shlex.split(editor, posix=False)]
    return [shutil.which(word) or word for word in words[:1]] + words[1:]
