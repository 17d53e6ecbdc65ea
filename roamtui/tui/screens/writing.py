"""Writes text into a file that a person names, and asks before one is replaced."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from textual.app import App

from roamtui.errors import RoamtuiError
from roamtui.tui.screens.overlays import ConfirmScreen, PromptScreen


async def ask_and_write(app: App[None], prompt: PromptScreen, render: Callable[[Path], str]) -> str:
    """Ask for a path, and write there what is rendered for it; return what to say, empty where the person left.

    Raises:
        RoamtuiError: It cannot be rendered or written.
    """
    name = await app.push_screen_wait(prompt)
    if name is None:
        return ""
    path = _find_path(name)
    text = await asyncio.to_thread(render, path)
    if not await asyncio.to_thread(_write, path, text):
        question = ConfirmScreen("There is a file with this name. Replace it?", str(path), yes="Replace")
        if not await app.push_screen_wait(question):
            return "Nothing was written."
        await asyncio.to_thread(_write, path, text, "w")
    return f"Wrote {path}."


def _find_path(name: str) -> Path:
    """Return the path that a person typed, ``~`` being their home."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        return Path(name)


def _write(path: Path, text: str, mode: str = "x") -> bool:
    """Write a file; return False where there is one already that may not be replaced."""
    try:
        with path.open(mode, encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        return False
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RoamtuiError(f"{path} cannot be written: {reason}.") from None
    return True
