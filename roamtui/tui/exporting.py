"""Writes a conversation into a file that a person names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from roamtui.conversation.export import describe_conversation, render_markdown
from roamtui.errors import RoamtuiError

if TYPE_CHECKING:
    from roamtui.conversation.store import Store


def find_path(name: str) -> Path:
    """Return the path that a person typed, ``~`` being their home."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        return Path(name)


def export_conversation(
    store: Store, conversation_id: str, source: str, path: Path, *, may_replace: bool = False
) -> bool:
    """Write a conversation as JSON to a path that ends in ``.json``, as Markdown to any other.

    Returns:
        False where there is a file already and it may not be replaced; nothing has happened then.

    Raises:
        StoreError: The conversation cannot be read.
        RoamtuiError: The file cannot be written.
    """
    saved = store.load(conversation_id)
    if path.suffix.lower() == ".json":
        text = json.dumps(describe_conversation(saved, source), ensure_ascii=False, indent=2) + "\n"
    else:
        text = render_markdown(saved, source)
    try:
        with path.open("w" if may_replace else "x", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        return False
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RoamtuiError(f"{path} cannot be written: {reason}.") from None
    return True
