"""Random keys, words, clicks, sizes, commands and faults at the real app: what it shows stays true.

`python -m tests.soak.fuzz --steps 20000 --seed 1` does many. If the app ends, it is started again.
"""

import argparse
import asyncio
import math
import random
import sys
from collections import Counter, deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from textual import events
from textual.worker import WorkerCancelled

from roamtui.conversation.state import ConversationState
from roamtui.sanitiser import sanitise_text
from roamtui.tui.actions import ACTIONS
from roamtui.tui.screens.main import MainScreen
from tests.anomalies.faulty_disk import FaultyDisk
from tests.conversation.conversations import check_messages
from tests.fakes.replay import replay_events
from tests.real_documents import PROJECT_DIR
from tests.soak.faulty_model import ODD_WORDS, FaultyModel
from tests.soak.hands import Hands, open_app, patch_home
from tests.tui.driving import screen_text

_KEYS = sorted({key for action in ACTIONS for key in action.keys} | set("abcdefty0789 .;$") | {"ctrl+a", "ctrl+k"})
_SIZES = ((120, 35), (80, 24), (40, 12), (150, 40), (200, 15), (20, 6), (90, 60), (1, 1), (1, 40), (300, 2))
_QUESTIONS = ("What of late fees?", "How long is the grace period?", "?", "/help", "tool " * 400, *ODD_WORDS)
_CHANGES = (("24 hours", "25 hours"), ("## Borrowing", "## Lending"), ("\n## ", "\n### "), ("e", "\u202ee\x1b[2J"))
_DEEDS = {"press": 10, "command": 5, "ask": 5, "click": 5, "go_on": 4, "cancel": 1, "resize": 3, "change": 1, "fail": 1}
"""What is done, and how often."""
_STEP_SECONDS = 120
"""After which the app hangs."""
_SHOWN_ROUNDS = 2_000
"""Rounds within which what is shown has to be true."""


class Life:
    """One start of the app, driven until it ends or enough was done."""

    def __init__(
        self,
        folder: Path,
        chance: random.Random,
        trail: deque[str],
        *,
        disk: FaultyDisk | None = None,
        deeds: Mapping[str, int] = _DEEDS,
        keys: Sequence[str] = _KEYS,
    ) -> None:
        self.done: Counter[str] = Counter()
        self._chance = chance
        self._disk = disk
        self._trail = trail
        self._deeds = deeds
        self._keys = keys
        self._text = (PROJECT_DIR / "examples" / "handbook.md").read_text("utf-8")
        self._document = folder / "handbook.md"
        self._document.write_text(self._text, "utf-8")
        self._failures: list[object] = []
        self._model = FaultyModel(chance.randrange(10**6))
        self._app = open_app(folder, self._document, self._model)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, told: self._failures.append(told))
        async with self._app.run_test(size=(120, 35), notifications=True) as pilot:
            self._hands = Hands(pilot)
            self._pilot = pilot
            yield

    async def run(self, steps: int) -> None:
        """Start the app, and do so many things."""
        async with self.running():
            await self.live(steps)

    async def live(self, steps: int) -> None:
        """Do so many things, or fewer if the app ends or has no document."""
        for _ in range(steps):
            deed = self._chance.choices([*self._deeds], [*self._deeds.values()])[0]
            self._trail.append(deed)
            self.done[deed] += 1
            async with asyncio.timeout(_STEP_SECONDS):
                await getattr(self, f"_{deed}")()
                await self._hands.rest()
            is_open = self._app.current_mode in self._app.documents  # the last document may have been closed
            if not self._app.is_running or self._app._exit or not is_open:
                return
            await self._check()

    async def start_conversation(self) -> None:
        """Start a conversation, and wait until the widgets of the last one, each a task, have ended.

        Raises:
            TimeoutError, WorkerCancelled: The app is stuck; a note has its screen.
        """
        try:
            async with asyncio.timeout(_STEP_SECONDS):
                await self._start_conversation()
        except (TimeoutError, WorkerCancelled) as error:  # as a worker's `wait` calls the timeout
            error.add_note(screen_text(self._app))
            raise

    async def _start_conversation(self) -> None:
        main = self._app.main_screen
        while self._app.screen is not main:
            await self._hands.press("escape")
        first_id = main.conversation.state.id
        while main.conversation.state.id == first_id:  # a question that was typed before may begin meanwhile
            while main.is_asking:
                await self._cancel()
            await main.action_new_conversation().wait()
        endless = ("keys", "watching")
        await self._hands.until(
            lambda: all(worker.is_finished for worker in self._app.workers if worker.group not in endless)
        )
        await self._hands.until(lambda: not any("ExchangeView" in task.get_name() for task in asyncio.all_tasks()))

    def _note(self, *given: object) -> None:
        self._trail.append(f"  {' '.join(map(repr, given))}")

    async def _press(self) -> None:
        keys = [key for key in self._chance.choices(self._keys, k=self._chance.randint(1, 4)) if key != "ctrl+q"]
        self._note(*keys)
        await self._hands.press(*keys)

    async def _command(self) -> None:
        main = self._app.main_screen
        if self._app.screen is main and main.is_mounted:
            found = [action.id for action in ACTIONS if action.runs_from_help and action.id != "global.quit"]
            chosen = self._chance.choice(found)
            self._note(chosen)
            await main.action_run(chosen)

    async def _ask(self) -> None:
        main = self._app.main_screen
        for _ in range(6):
            if self._app.screen is not main:
                await self._hands.press("escape")
        if self._app.screen is main:
            main.question_box.fill(self._chance.choice(_QUESTIONS))
            main.question_box.focus()
            await self._hands.press("enter")

    async def _click(self) -> None:
        width, height = self._app.screen.size
        place = self._chance.randrange(max(1, width)), self._chance.randrange(max(1, height))
        self._note(place)
        if width and height:
            clicked: list[Any] = [events.MouseMove, events.MouseDown, events.MouseUp, events.Click]
            await self._pilot._post_mouse_events(clicked, None, place, button=1)

    async def _go_on(self) -> None:
        self._model.go_on()

    async def _cancel(self) -> None:
        if self._app.main_screen.is_asking:
            self._app.main_screen.action_copy_or_cancel()
        await self._hands.rest()

    async def _resize(self) -> None:
        size = self._chance.choice(_SIZES)
        self._note(size)
        await self._hands.resize(*size)

    async def _change(self) -> None:
        """Change the document, or take it away, and read it again."""
        old, new = self._chance.choice(_CHANGES)
        self._document.unlink(missing_ok=True)
        if self._chance.random() < 0.9:
            text = self._chance.choice((self._text, self._text.replace(old, new), self._text[:2_000], ""))
            self._document.write_text(text, "utf-8")
        await self._hands.press("f5")

    async def _fail(self) -> None:
        """Let the disk fail after some writes, for some or all that follow; or no more."""
        assert self._disk is not None
        self._disk.passes = self._chance.randrange(6)
        self._disk.faults = self._chance.choice((0, 0, 1, 3, math.inf))
        self._note(self._disk.passes, self._disk.faults)

    async def _check(self) -> None:
        await self._hands.until(
            lambda: not self._find_untrue(), _SHOWN_ROUNDS, lambda: f"{self._find_untrue()}\n{screen_text(self._app)}"
        )
        main = self._app.main_screen
        session = main.conversation
        state = session.state
        check_messages(tuple(state.iter_messages()))
        assert replay_events(state.library, session._log.events, state.options) == state, "the log gives another state"
        if len(state.exchanges) > 30 and not main.is_asking:
            if self._disk is not None:
                self._disk.faults = 0  # a conversation cannot start on a full disk
            await self.start_conversation()

    def _find_untrue(self) -> str:
        """Return what is not as it must be, empty if all is; some of it may become true in a moment."""
        if self._app._exception is not None:
            raise self._app._exception
        text = screen_text(self._app)
        main = self._app.main_screen
        if self._failures:
            return f"failed: {self._failures}"
        if sanitise_text(text) != text:
            return f"control sequences: {sanitise_text(text)!r}"
        return _compare_screen(main, main.conversation.state)


def _compare_screen(main: MainScreen, state: ConversationState) -> str:
    shown = main.chat_log.shown
    exchanges = state.exchanges
    numbers = [view.exchange.number for view in shown]
    if numbers != list(range(len(exchanges) - len(shown) + 1, len(exchanges) + 1)) or bool(shown) != bool(exchanges):
        return f"the chat shows {numbers} of {len(exchanges)} questions"
    for view, exchange in zip(shown, exchanges[len(exchanges) - len(shown) :], strict=True):
        if exchange.stopped is not None and view.answer != exchange.answer:
            return f"the chat shows {view.answer!r} as answer {exchange.number}, it is {exchange.answer!r}"
    if not main.is_asking and main.status_line.reply.is_running:
        return "the status line shows an answer under way"
    return "" if main.tree_pane.outline.lines.unfolded == state.unfolded else "the tree unfolds other nodes"


def run(folder: Path, steps: int, seed: int) -> Counter[str]:
    """Do so many random things in an empty home below `folder`, and return what was done how often.

    Raises:
        AssertionError: Something was not as it must be; a note tells what was done before.
    """
    chance = random.Random(seed)  # noqa: S311 - what was found can be found again
    trail: deque[str] = deque(maxlen=60)
    done: Counter[str] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        patch_home(patch, folder)
        disk = FaultyDisk(patch, folder, names=("write", "fsync", "replace", "lock"))
        try:
            while done["steps"] < steps:
                disk.faults = 0
                life = Life(folder, chance, trail, disk=disk)
                asyncio.run(life.run(steps - done["steps"]))
                done.update(life.done, starts=1, steps=life.done.total())
        except BaseException as error:
            error.add_note(f"seed {seed}, {done}:\n" + "\n".join(trail))
            raise
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with TemporaryDirectory() as folder, chdir(folder):  # exports are written where the program runs
        sys.stdout.write(f"seed {given.seed}: {dict(run(Path(folder), given.steps, given.seed))}\n")


if __name__ == "__main__":
    main()
