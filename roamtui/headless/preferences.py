"""A person's preferences: a Markdown file beside their settings, which they alone write, and `roamtui preferences`.

It is given to the model as the person's own words. Nothing of a document ever comes into it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from roamtui.document.plain import sanitise_line, sanitise_text
from roamtui.editor import build_editor_command, find_editor
from roamtui.errors import RoamtuiError, UsageError
from roamtui.headless.output import write_note, write_text
from roamtui.paths import make_private_folder, write_private_file

LENGTH_MAX = 4_000
"""Characters that the model is given: about a thousand tokens, sent with every conversation."""
_BYTES_MAX = 1_000_000
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_CUT = "(The rest was left out, because it is too long.)"
_TEMPLATE = """\
<!-- What you write below this comment, roamtui tells the model as your preferences, from the next conversation on:
the language of the answers, their style, what you mean by a term. At most 4,000 characters. For example:

Answer in German, in short sentences.
By "the tool" I mean the command-line tool, never the drill.
-->
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """What a person wrote down of how they want to be answered."""

    text: str = ""
    """As the model is given it, without comments; empty for none."""
    note: str = ""
    """What the person should know of it, empty for nothing."""


def load_preferences(path: Path) -> Preferences:
    """Return the preferences that a file holds; an absent one holds none.

    Raises:
        RoamtuiError: It cannot be read, or is no text.
    """
    return _clean(_read(path))


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_BYTES_MAX).decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        reason = error.strerror or str(error)
        raise RoamtuiError(f"Your preferences are not used: {path}: {reason}.") from None
    except UnicodeDecodeError:
        raise RoamtuiError(f"Your preferences are not used: {path} is no text in UTF-8.") from None


def _clean(written: str) -> Preferences:
    text = _COMMENT.sub("", sanitise_text(written)).strip()
    if len(text) <= LENGTH_MAX:
        return Preferences(text=text)
    kept = text[:LENGTH_MAX]
    kept = kept[: kept.rfind("\n") + 1].rstrip() or kept
    note = (
        f"Your preferences have more than {LENGTH_MAX:,} characters: the last {len(text) - len(kept):,} are left out."
    )
    return Preferences(text=f"{kept}\n{_CUT}", note=note)


def print_preferences(path: Path) -> None:
    """Write where the preferences lie, and what stands there.

    Raises:
        RoamtuiError: They cannot be read.
    """
    preferences = load_preferences(path)
    write_note(str(path))
    if not preferences.text:
        write_note("No preferences are written there yet. `roamtui preferences --edit` opens your editor.")
        return
    write_text(f"{_read(path).strip()}\n")
    if preferences.note:
        write_note(preferences.note)


def edit_preferences(path: Path) -> None:
    """Open the file in the person's editor, and wait for its end; the owner alone can read it.

    Raises:
        UsageError: No editor is set.
        RoamtuiError: The file cannot be made, or the editor failed.
    """
    import subprocess  # noqa: PLC0415 - to edit alone

    editor = find_editor()
    if not editor:
        raise UsageError(f"no editor is set. Set the environment variable EDITOR, or write {path} yourself.")
    try:
        if not path.exists():
            _append(path, _TEMPLATE)
        command = build_editor_command(editor, path)
        status = subprocess.run(command, check=False).returncode  # noqa: S603 - the person's own editor
        path.chmod(0o600)
    except OSError as error:
        raise RoamtuiError(f"{error.filename or path}: {error.strerror or error}.") from None
    except ValueError as error:
        raise UsageError(f"the editor {editor} cannot be started: {error}. Change EDITOR.") from None
    if status:
        raise RoamtuiError(f"{command[0]} ended with status {status}. See `roamtui preferences` for what is written.")
    preferences = load_preferences(path)
    if not preferences.text:
        write_note("No preferences are written: answers come as before.")
    else:
        write_note(preferences.note or "Your preferences count from the next conversation on.")


def add_preference(path: Path, text: str) -> str:
    """Write a preference below those that are there, and return what to tell the person.

    Raises:
        RoamtuiError: The file cannot be read or written, or has no room for it.
    """
    line = sanitise_line(text)
    before = _read(path)
    if len(_clean(before).text) + len(line) >= LENGTH_MAX:
        raise RoamtuiError(f"{path} has no room for it: preferences have at most {LENGTH_MAX:,} characters.")
    try:
        _append(path, f"{line}\n")
    except OSError as error:
        raise RoamtuiError(f"It was not kept: {path}: {error.strerror or error}.") from None
    return f"Kept in {path}. It counts from the next conversation on."


def _append(path: Path, text: str) -> None:
    """Write lines to the end of a file, all of them or none; its owner alone can read it."""
    target = path.resolve()
    make_private_folder(target.parent)
    before = target.read_bytes() if target.exists() else b""
    gap = b"" if not before or before.endswith(b"\n") else b"\n"
    write_private_file(target, before + gap + text.encode("utf-8"), is_flushed=True)
