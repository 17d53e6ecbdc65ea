"""A scripted day at the running app: questions, faults, keys, resizes, reloads, one conversation after another.

`python -m tests.soak.day --questions 3000` lives a long one and prints what it measured.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from textual.pilot import Pilot

from roamtui.agent.loop import Agent
from roamtui.conversation.session import Session
from roamtui.conversation.state import OpenSectionOptions, start_conversation
from roamtui.conversation.store import ConversationStore
from roamtui.library_loader import open_library
from roamtui.search.keyword import KeywordSearcher
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext
from tests.conversation.conversations import check_messages
from tests.real_documents import PROJECT_DIR
from tests.soak.faulty_model import FaultyModel
from tests.soak.hands import Hands
from tests.tui.driving import screen_text

_QUESTIONS_PER_CONVERSATION = 15
_QUESTIONS_PER_REST = 3
"""So often garbage is collected, lest what is only not collected yet looks like what is held."""
_KEPT_CONVERSATIONS = 12
_SIZES = ((120, 35), (60, 20), (40, 12), (200, 60), (90, 24), (150, 40))
_TREE_KEYS = (*"jkaxpzulh.", "space", "enter")
_WORDS = ("grace period", "late fees", "the reading room", "a lost book", "deposits", "opening hours", "who may borrow")
_DETOURS = (
    ("f1", "escape"),
    ("ctrl+p", "escape"),
    ("f4", "escape"),
    ("f3", "escape"),
    ("escape", "slash", "l", "a", "t", "e", "escape"),
    ("escape", "g", "enter", "3", "G", "g", "escape", "escape"),
)
_HEAD = "questions        MB   objects      ours  tasks  threads  descriptors  children  CPU s\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """What a process holds at one moment."""

    questions: int
    objects: int
    """Those that the garbage collector knows."""
    own_objects: int
    """Of these, those of roamtui's classes."""
    resident_kb: int
    tasks: int
    threads: int
    descriptors: int
    children: int
    cpu_seconds: float
    """Used by the program so far, all threads together."""


Tell = Callable[[Holdings], None]
"""Gets each measurement when it is made."""


@dataclass(slots=True)
class Day:
    """What was done and measured."""

    holdings: list[Holdings] = field(default_factory=list)
    deeds: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)


class Living:
    """Drives one app through a day."""

    def __init__(self, pilot: Pilot[None], document: Path, model: FaultyModel, seed: int, tell: Tell) -> None:
        assert isinstance(pilot.app, RoamApp)
        self._hands = Hands(pilot)
        self._app = pilot.app
        self._document = document
        self._model = model
        self._chance = random.Random(seed)  # noqa: S311 - a day that can be lived again
        self.day = Day()
        self._tell = tell

    @property
    def _session(self) -> Session:
        return self._app.main_screen.session

    async def live(self, questions: int, questions_per_conversation: int, seconds_max: float) -> None:
        """Ask so many questions, or fewer where the time is over, and do everything else in between."""
        clock = asyncio.get_running_loop().time
        ends_at = clock() + seconds_max
        await self._warm_up()
        number = 0
        while number < questions and clock() < ends_at:
            if number % questions_per_conversation == 0:
                await self._begin_anew(number)
            await self._ask(number)
            await self._wander()
            number += 1
            if number % _QUESTIONS_PER_REST == 0:
                gc.collect()
        await self._begin_anew(number)
        self.day.faults = self._model.faults

    async def _warm_up(self) -> None:
        """Go everywhere once: what is made when it is first needed is no leak."""
        for size in _SIZES:
            await self._hands.resize(*size)
        await self._ask(-1)
        for keys in _DETOURS:
            await self._hands.press(*keys, "escape", "2")
            await self._settle()

    async def _ask(self, number: int) -> None:
        before = self._session.state.question_number
        self._app.main_screen.question_box.fill(f"What of {self._chance.choice(_WORDS)} ({number})?")
        self._app.main_screen.question_box.focus()
        await self._hands.press("enter")
        await self._hands.until(lambda: self._session.state.question_number > before)
        if self._chance.random() < 0.1:
            self.day.deeds["cancelled"] += 1
            await self._hands.press("ctrl+c")
        await self._hands.until(lambda: self._model.is_hanging or not self._app.main_screen.is_asking)
        if self._app.main_screen.is_asking:
            self.day.deeds["cancelled"] += 1
            self._app.main_screen.action_copy_or_cancel()
            await self._hands.until(lambda: not self._app.main_screen.is_asking)
        self.day.deeds["asked"] += 1
        self._check()

    def _check(self) -> None:
        state = self._session.state
        assert not state.is_asking
        check_messages(tuple(state.transcript.iter_messages()))
        assert self._session.save_failure == ""

    async def _wander(self) -> None:
        deed = self._chance.choice(("tree", "tree", "resize", "detour", "reload", "again", "nothing", "nothing"))
        self.day.deeds[deed] += 1
        match deed:
            case "tree":
                await self._hands.press("escape", *self._chance.choices(_TREE_KEYS, k=4), "escape", "2")
            case "resize":
                await self._hands.resize(*self._chance.choice(_SIZES))
            case "detour":
                await self._hands.press(*self._chance.choice(_DETOURS), "escape", "2")
            case "reload":
                self._change_document()
                await self._hands.press("f5")
            case "again":
                self._app.main_screen.chat_log.action_retry()
                await self._hands.rest()
                await self._hands.until(lambda: self._model.is_hanging or not self._app.main_screen.is_asking)
                if self._app.main_screen.is_asking:
                    self._app.main_screen.action_copy_or_cancel()
            case _:
                pass
        await self._settle()

    def _change_document(self) -> None:
        text = self._document.read_text("utf-8")
        new = text.replace("24 hours", "25 hours") if "24 hours" in text else text.replace("25 hours", "24 hours")
        self._document.write_text(new, "utf-8")

    async def _settle(self) -> None:
        """Wait until nothing is under way any more, and come back to the main screen."""
        while self._app.screen is not self._app.main_screen:
            await self._hands.press("escape")
        await self._hands.until(lambda: all(worker.is_finished for worker in self._app.workers))

    async def _begin_anew(self, number: int) -> None:
        """Begin a conversation, delete the oldest ones, and measure once all is let go of that can be."""
        await self._hands.resize(*_SIZES[0])
        first_id = self._session.state.id
        await self._hands.press("ctrl+n")
        await self._hands.until(lambda: self._session.state.id != first_id)
        store = self._session.store
        assert store is not None
        for summary in store.list()[_KEPT_CONVERSATIONS:]:
            store.delete(summary.id)
        await self._settle()
        await self._hands.until(_has_cleared_away)
        gc.collect()
        self.day.holdings.append(measure(number))
        self._tell(self.day.holdings[-1])


def _has_cleared_away() -> bool:
    """Return whether the widgets of earlier conversations have ended; each is a task, named after the widget."""
    return not any("ExchangeView" in task.get_name() for task in asyncio.all_tasks())


def measure(questions: int) -> Holdings:
    """Return what this process holds now, after so many questions."""
    objects = gc.get_objects()
    return Holdings(
        questions=questions,
        objects=len(objects),
        own_objects=sum(str(type(held).__module__).startswith("roamtui.") for held in objects),
        resident_kb=int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024,
        tasks=len(asyncio.all_tasks()),
        threads=threading.active_count(),
        descriptors=len(list(Path("/proc/self/fd").iterdir())),
        children=len(Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split()),
        cpu_seconds=process_time(),
    )


async def live_day(
    folder: Path,
    questions: int,
    seed: int = 1,
    *,
    questions_per_conversation: int = _QUESTIONS_PER_CONVERSATION,
    tell: Tell = lambda _held: None,
    seconds_max: float = inf,
) -> tuple[Day, str]:
    """Live a day of so many questions, and return what was measured and the screen at its end."""
    document = folder / "handbook.md"
    document.write_text((PROJECT_DIR / "examples" / "handbook.md").read_text("utf-8"), "utf-8")
    library = open_library((str(document),))
    model = FaultyModel(seed)
    store = ConversationStore(folder / "conversations")
    session = Session(start_conversation(library, OpenSectionOptions()), store)
    agent = Agent(session, model, KeywordSearcher(library))
    app = RoamApp(AppContext(agent=agent, reload_library=lambda *_: open_library((str(document),))))
    async with app.run_test(size=_SIZES[0], notifications=True) as pilot:
        living = Living(pilot, document, model, seed, tell)
        await living.live(questions, questions_per_conversation, seconds_max)
        return living.day, screen_text(app)


def main() -> int:
    """Live a day, and print what it held at each beginning of a conversation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=3_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=inf, help="end the day after so long, however far it is")
    given = parser.parse_args()
    sys.stdout.write(_HEAD)
    with TemporaryDirectory() as folder:
        living = live_day(Path(folder), given.questions, given.seed, tell=_print, seconds_max=60 * given.minutes)
        day, screen = asyncio.run(living)
    for name, counts in (("done", day.deeds), ("faults", day.faults)):
        sys.stdout.write(f"{name}: {', '.join(f'{count} {what}' for what, count in counts.most_common())}\n")
    sys.stdout.write(f"{screen}\n")
    return 0


def _print(held: Holdings) -> None:
    """Print one line of the table."""
    memory = (held.resident_kb / 1_000, held.objects, held.own_objects)
    rest = (held.tasks, held.threads, held.descriptors, held.children, held.cpu_seconds)
    sys.stdout.write("{:9,} {:9.1f} {:9,} {:9,} {:6} {:8} {:12} {:9} {:6.0f}\n".format(held.questions, *memory, *rest))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
