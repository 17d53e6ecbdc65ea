"""Walks at random over all keys of the table, in every pane and dialog: no failure, a focus always, true messages.

`python -m tests.soak.key_walk --steps 5000 --seed 1` walks at four sizes. In each place, keys that were not pressed
there yet come first. When a message names a key, that key is pressed next and has to do something.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import sys
from collections import Counter, deque
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from textual.screen import Screen
from textual.widgets import Input, Static, TextArea

from roamtui.models.discovery import ModelOffer
from roamtui.sanitiser import sanitise_text
from roamtui.tui.actions import ACTIONS
from roamtui.tui.app import RoamApp
from roamtui.tui.screens.main import MainScreen
from roamtui.tui.status_line import MessageLine
from tests.real_documents import PROJECT_DIR
from tests.soak.faulty_model import FaultyModel
from tests.soak.hands import Hands, open_app, patch_home
from tests.tui.driving import screen_text
from tests.tui.tabling import Tables

SIZES = ((200, 50), (120, 35), (80, 24), (60, 20))
_KEYS = sorted({key for action in ACTIONS for key in action.keys} - {"ctrl+q"})
_NAMED = {
    name: key
    for action in ACTIONS
    for key, name in zip(action.keys, action.key_names, strict=False)
    if key in _KEYS and name not in ("a", "i", "-", "↓") and not name.isdecimal()
} | {"up": "up", "down": "down"}
"""Keys by their names. "a" and "i" are words, and a dash, an arrow and a number are no keys in a message."""
_WORDS = ("end", "home", "up", "down", "left", "right", "space", "delete", "enter", "escape")
_NAMES = re.compile(
    rf"(?:^|(?<=[·↓] ))({'|'.join(_WORDS)})(?= )"
    rf"|(?:^|(?<!then )(?<=[ (]))({'|'.join(re.escape(name) for name in _NAMED if name not in _WORDS)})(?=[ ,.)]|$)"
)
"""Matches the keys that a message names. Words among them begin a part of it. What follows "then" works later."""
_QUESTIONS = ("How long is the grace period?", "What does a late cargo bike cost?", "Compare all fees.")
_NEW_SHARE = 0.7
"""How often a key is pressed that was not pressed in this place, if there is one."""
_LEAVING_SHARE = 0.5
"""How often escape is pressed in a text field where all keys were pressed, so that it does not hold the walk."""
_LIFE_STEPS = 1_000
"""After so many steps, the app is started again."""
_GO_ON_STEPS = 20
"""After so many steps, a reply that hangs comes."""


class KeyWalk:
    """A walk at one size. If the app ends, it is started again."""

    def __init__(self, folder: Path, size: tuple[int, int], seed: int) -> None:
        self.pressed: Counter[tuple[str, str]] = Counter()
        """How often each key was pressed in each place."""
        self.messages: set[str] = set()
        """The messages that named a key which was then pressed."""
        self.starts = 0
        self.trail: deque[str] = deque(maxlen=40)
        self._folder = folder
        self._size = size
        self._chance = random.Random(f"{seed} {size}")  # noqa: S311 - what was found can be found again
        self._model = FaultyModel(seed)
        self._document = folder / "handbook.md"
        handbook = (PROJECT_DIR / "examples" / "handbook.md").read_text("utf-8")
        title, _, rest = handbook.partition("\n")
        self._document.write_text(f"{title}\n\n![Two](a.png) and [loans](#borrowing).\n{rest}", "utf-8")
        (folder / "a.png").write_bytes(b"")

    def walk(self, steps: int) -> None:
        """Press so many keys."""
        while self.pressed.total() < steps:
            self.starts += 1
            asyncio.run(self._live(steps))

    async def _live(self, steps: int) -> None:
        failures: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _loop, told: failures.append(told))
        app = self._open()
        async with app.run_test(size=self._size, notifications=True) as pilot:
            hands = Hands(pilot)
            for question in _QUESTIONS[: self.starts % len(_QUESTIONS)]:
                app.main_screen.question_box.fill(question)
                await hands.press("enter")
            named: list[str] = []
            last = min(steps, self.pressed.total() + _LIFE_STEPS)
            while self.pressed.total() < last and app.is_running and not app._exit:
                named = await self._step(app, hands, named)
                assert not failures, failures

    def _open(self) -> RoamApp:
        folder = self._folder / f"tables-{self.starts}"
        folder.mkdir()
        tables = Tables(folder)
        tables.questions = tables.questions if self.starts % 2 else []
        return open_app(
            self._folder,
            self._document,
            self._model,
            examples=_QUESTIONS,
            list_models=lambda: (ModelOffer(name="faulty-2", note="on this machine"),),
            make_model=lambda *_given, **_named: FaultyModel(1),
            open_source=tables.open_source,
            open_table=tables.open_table,
        )

    async def _step(self, app: RoamApp, hands: Hands, named: list[str]) -> list[str]:
        """Press a key: one that a message has just named, if any. Return the keys that the messages name now."""
        place = name_place(app.screen)
        message = " ".join(_list_messages(app)) if named else ""
        new = [key for key in _KEYS if (place, key) not in self.pressed]
        key = self._chance.choice(new if new and self._chance.random() < _NEW_SHARE else _KEYS)
        if named:
            key = self._chance.choice(named)
        elif not new and isinstance(app.focused, Input) and self._chance.random() < _LEAVING_SHARE:
            key = "escape"
        self.trail.append(f"{place}: {key}{f' because of {message!r}' if named else ''}")
        before = _describe(app)
        await hands.press(key)
        self.pressed[place, key] += 1
        if self.pressed.total() % _GO_ON_STEPS == 0:
            self._model.go_on()
        if app._exit or not app.is_running:
            return []
        await hands.until(lambda: not find_fault(app), tell=lambda: f"{find_fault(app)}\n{screen_text(app)}")
        if named:
            self.messages.add(message)
            await hands.until(
                lambda: bool(_list_messages(app)) or _describe(app) != before,
                100,
                lambda: f"{message!r} names {key}, which does nothing",
            )
            return []
        if isinstance(app.focused, Input | TextArea) and not isinstance(app.screen, MainScreen):
            return []  # what is typed changes the message
        return [_NAMED[match.group()] for one in _list_messages(app) for match in _NAMES.finditer(one)]


def name_place(screen: Screen[object]) -> str:
    """Name the screen, and what has the focus there."""
    if isinstance(screen, MainScreen):
        return f"{screen.panes.scope}"
    return f"{type(screen).__name__} {type(screen.focused).__name__}"


def find_fault(app: RoamApp) -> str:
    """Return what is not as it must be, empty if all is; some of it may become true in a moment."""
    if app._exception is not None:
        raise app._exception
    focused = app.focused
    text = screen_text(app)
    if focused is None:
        return f"nothing has the focus in {name_place(app.screen)}"
    if not all(node.display for node in focused.ancestors_with_self if node.is_attached):
        return f"{focused} has the focus and is hidden"
    return "control sequences" if sanitise_text(text) != text else ""


def _list_messages(app: RoamApp) -> list[str]:
    """List what the app says to the person now."""
    widgets: list[Static] = [*app.screen.query(MessageLine), *app.screen.query(Static).filter(".message")]
    messages = [str(widget.visual) for widget in widgets if widget.display]
    if app.screen is (main := app.documents.get(app.current_mode)):
        messages.append(main.background_work.progress)
    return [message for message in messages if message]


def _describe(app: RoamApp) -> object:
    focused = app.focused
    main = app.documents.get(app.current_mode)
    cursors = main and (main.tree_pane.outline.cursor_line, main.chat_log.target_selection.target)
    typed = focused.text if isinstance(focused, TextArea) else focused.value if isinstance(focused, Input) else ""
    return screen_text(app), id(focused), typed, cursors, len(app.screen_stack), app.current_mode


def walk_all(folder: Path, steps: int, seed: int) -> list[KeyWalk]:
    """Walk at each size, in an empty home below `folder`.

    Raises:
        AssertionError: Something was not as it must be; a note tells what was pressed before.
    """
    walks = []
    for size in SIZES:
        with pytest.MonkeyPatch.context() as patch, TemporaryDirectory(dir=folder) as name, chdir(name):
            patch_home(patch, Path(name))
            walk = KeyWalk(Path(name), size, seed)
            try:
                walk.walk(steps)
            except BaseException as error:
                error.add_note(f"{size}, seed {seed}:\n" + "\n".join(walk.trail))
                raise
        walks.append(walk)
    return walks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        for walk in walk_all(Path(folder), given.steps, given.seed):
            sys.stdout.write(f"{len(walk.pressed)} pairs of place and key, {len(walk.messages)} messages with keys\n")


if __name__ == "__main__":
    main()
