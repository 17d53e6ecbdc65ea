"""A person's preferences: a Markdown file that only they write, and `roamtui preferences`.

The model receives it as the person's own words, so text from a document must never get into it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from roamtui.document.plain import sanitise_line, sanitise_text
from roamtui.editor import build_editor_command, find_editor
from roamtui.errors import RoamtuiError, UsageError, format_reason
from roamtui.headless.output import write_notice, write_text
from roamtui.paths import make_private_folder, write_private_file

LENGTH_MAX = 4_000
"""Maximum number of characters sent to the model: about a thousand tokens in every conversation."""
_BYTES_MAX = 1_000_000
"""Maximum number of bytes to read from the file."""
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_CUT_NOTE = "(The rest was left out, because it is too long.)"
_TEMPLATE = """\
<!-- What you write below this comment, roamtui tells the model as your preferences, from the next conversation on:
the language of the answers, their style, what you mean by a term. At most 4,000 characters. For example:

Answer in German, in short sentences.
By "the tool" I mean the command-line tool, never the drill.
-->
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """How a person wants to be answered, in their own words."""

    text: str = ""
    """Text for the model, without comments. May be empty."""
    note: str = ""
    """A notice for the person. May be empty."""


def load_preferences(path: Path) -> Preferences:
    """Load the preferences from a file. If the file is missing, they are empty.

    Raises:
        RoamtuiError: The file cannot be read, or is not UTF-8 text.
    """
    return _parse(_read(path))


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_BYTES_MAX).decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        reason = format_reason(error)
        raise RoamtuiError(f"Your preferences are not used: {path}: {reason}.") from None
    except UnicodeDecodeError:
        raise RoamtuiError(f"Your preferences are not used: {path} is not UTF-8 text.") from None


def _parse(source: str) -> Preferences:
    text = _COMMENT.sub("", sanitise_text(source)).strip()
    if len(text) <= LENGTH_MAX:
        return Preferences(text=text)
    kept = text[:LENGTH_MAX]
    kept = kept[: kept.rfind("\n") + 1].rstrip() or kept
    note = (
        f"Your preferences have more than {LENGTH_MAX:,} characters: the last {len(text) - len(kept):,} are left out."
    )
    return Preferences(text=f"{kept}\n{_CUT_NOTE}", note=note)


def print_preferences(path: Path) -> None:
    """Print the path and content of the preferences.

    Raises:
        RoamtuiError: They cannot be read.
    """
    preferences = load_preferences(path)
    write_notice(str(path))
    if not preferences.text:
        write_notice("No preferences yet. Add some with `roamtui preferences --edit`.")
        return
    write_text(f"{_read(path).strip()}\n")
    if preferences.note:
        write_notice(preferences.note)


def edit_preferences(path: Path) -> None:
    """Open the file in the person's editor, and wait for the editor to exit. Only the owner can read the file.

    Raises:
        UsageError: No editor is set.
        RoamtuiError: The file cannot be created, or the editor failed.
    """
    import subprocess  # noqa: PLC0415 - only needed to edit

    editor = find_editor()
    if not editor:
        raise UsageError(f"no editor set. Set the environment variable EDITOR, or edit {path} yourself.")
    try:
        if not path.exists():
            _append(path, _TEMPLATE)
        command = build_editor_command(editor, path)
        status = subprocess.run(command, check=False).returncode  # noqa: S603 - the person's own editor
        path.chmod(0o600)
    except OSError as error:
        raise RoamtuiError(f"{error.filename or path}: {format_reason(error)}.") from None
    except ValueError as error:
        raise UsageError(f"the editor {editor} cannot be started: {error}. Change EDITOR.") from None
    if status:
        raise RoamtuiError(f"{command[0]} ended with status {status}. `roamtui preferences` shows what was saved.")
    preferences = load_preferences(path)
    if not preferences.text:
        write_notice("No preferences saved.")
    else:
        write_notice(preferences.note or "Saved. Applies to new conversations.")


def add_preference(path: Path, text: str) -> str:
    """Append a preference, and return a confirmation for the person.

    Raises:
        RoamtuiError: The file cannot be read or written, or is full.
    """
    line = sanitise_line(text)
    if len(_parse(_read(path)).text) + len(line) >= LENGTH_MAX:
        raise RoamtuiError(f"{path} is full: preferences have at most {LENGTH_MAX:,} characters.")
    try:
        _append(path, f"{line}\n")
    except OSError as error:
        raise RoamtuiError(f"Could not save the preference: {path}: {format_reason(error)}.") from None
    return f"Saved to {path}. Applies to new conversations."


def _append(path: Path, text: str) -> None:
    """Append text to a file atomically. Only the owner can read the file."""
    target = path.resolve()
    make_private_folder(target.parent)
    existing = target.read_bytes() if target.exists() else b""
    line_end = b"" if not existing or existing.endswith(b"\n") else b"\n"
    write_private_file(target, existing + line_end + text.encode("utf-8"), is_flushed=True)
