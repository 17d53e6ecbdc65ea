"""Writes one setting into a person's file without touching anything else that stands there."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING

from roamtui.errors import RoamtuiError
from roamtui.private_folders import make_private_folder, write_private_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_KEY_LINE = re.compile(r"^[ \t]*[\w\"'-][^\r\n#=]*=[^\r\n]*(?:\r?\n|\Z)", re.MULTILINE)
_STRING = r"\"(?:[^\"\\\r\n]|\\.)*\"|'[^'\r\n]*'"


def save_setting(path: Path, key: str, value: str) -> None:
    """Set a key outside all tables to a text; comments, order and everything else stay as they are.

    The new file takes the old one's place whole, and its owner alone can read it.

    Raises:
        RoamtuiError: It cannot be read or written, or says the key in a way that cannot be replaced safely.
    """
    line = f"{key} = {json.dumps(value, ensure_ascii=False)}"
    try:
        target = path.resolve()
        before = target.read_bytes().decode("utf-8") if target.exists() else ""
        after = _change(before, key, value, line)
        if after is None:
            raise RoamtuiError(f"{path} was left as it is. To keep this choice, put {line} there yourself.")
        make_private_folder(target.parent)
        write_private_file(target, after.encode("utf-8"), is_flushed=True)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RoamtuiError(f"The choice is not kept: {path}: {reason}.") from None


def _change(text: str, key: str, value: str, line: str) -> str | None:
    """Return the text with the key set, None where that would change or break anything else."""
    try:
        wanted = {**tomllib.loads(text), key: value}
    except tomllib.TOMLDecodeError:
        return None
    for candidate in _propose(text, key, line):
        try:
            if tomllib.loads(candidate) == wanted:
                return candidate
        except tomllib.TOMLDecodeError:
            continue
    return None


def _propose(text: str, key: str, line: str) -> Iterator[str]:
    """Yield texts with the key replaced, or put after the last key outside all tables, or put first."""
    end = "\r\n" if "\r\n" in text else "\n"
    table = _TABLE.search(text)
    head_length = table.start() if table else len(text)
    found = re.compile(rf"^([ \t]*)[\"']?{re.escape(key)}[\"']?[ \t]*=[ \t]*(?:{_STRING})", re.MULTILINE).search(
        text, 0, head_length
    )
    if found:
        yield f"{text[: found.start()]}{found.group(1)}{line}{text[found.end() :]}"
        return
    keys = list(_KEY_LINE.finditer(text, 0, head_length))
    if keys:
        place = keys[-1].end()
        gap = "" if text[:place].endswith("\n") else end
        yield f"{text[:place]}{gap}{line}{end}{text[place:]}"
    yield f"{line}{end}{text}"
