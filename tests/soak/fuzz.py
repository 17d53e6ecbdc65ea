"""Random keys, words, clicks, sizes, commands, documents and faults at the real app: what it shows stays true.

`python -m tests.soak.fuzz --steps 20000 --seed 1` goes on for long. Where the app was left it is started again.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import math
import random
import re
import sys
import threading
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import pytest
from textual import events

import roamtui.wiring
from roamtui import launch
from roamtui.conversation.commands import Origin
from roamtui.conversation.state import ConversationState, fold_events
from roamtui.document.plain import sanitise_text
from roamtui.errors import RoamtuiError
from roamtui.launch import AppArguments
from roamtui.settings import ConversationArguments, load_settings
from roamtui.tui.actions import ACTIONS
from roamtui.tui.app import RoamApp
from roamtui.tui.context import DocumentOpener, StartOffer
from roamtui.tui.messages import DocumentRequested
from roamtui.tui.screens.main import MainScreen
from tests.anomalies.faulty_disk import FaultyDisk
from tests.conversation.conversations import check_messages
from tests.fakes.site import FakeSite, SitePage
from tests.real_documents import PROJECT_DIR
from tests.soak.faulty_model import FAULTS, ODD_WORDS, FaultyModel
from tests.soak.hands import Hands
from tests.tui.driving import screen_text

_MODEL_FAULTS = (*FAULTS, "odd", "odd", "slow", "slow")
_KEYS = sorted({key for action in ACTIONS for key in action.keys} | set("abcdefty0789 .;$") | {"ctrl+a", "ctrl+k"})
_SIZES = ((120, 35), (80, 24), (40, 12), (64, 20), (150, 40), (200, 15), (20, 6), (90, 60), (1, 1), (1, 40), (300, 2))
_QUESTIONS = ("What of late fees?", "How long is the grace period?", "a lost book", "?", "/help", "tool " * 400)
_CHANGES = (("24 hours", "25 hours"), ("## Borrowing", "## Lending"), ("\n## ", "\n### "), ("e", "\u202ee\x1b[2J"))
_OPEN_INSIDE = re.compile(r" \((\d+) open")
_TREE_WIDTH = 2_000
"""Cells in which no title of these documents is cut."""
_FAILING = ("main", "find", "saved_items", "open_document")
"""Screens that tell a person what failed."""
_LOG_MAX = 2_000
"""Events of a log that is folded after each step; a longer one now and then."""
_SCREENS_MAX = 6
"""That lie above each other, or steps out of one."""
_STEP_SECONDS = 120
"""After which the app hangs."""
_PASSAGE_WAIT = 2_000
"""Rounds within which what is shown has to be true."""


class World:
    """Files and a site, which change and fail."""

    def __init__(self, folder: Path, chance: random.Random, disk: FaultyDisk) -> None:
        self._chance = chance
        self._folder = folder
        self.disk = disk
        self._text = (PROJECT_DIR / "examples" / "handbook.md").read_text("utf-8")
        self.handbook = folder / "handbook.md"
        self.handbook.write_text(self._text, "utf-8")
        (folder / "notes").mkdir()
        for name, text in (("odd.md", "\n\n".join(f"# {words}\n\n{words}" for words in ODD_WORDS)), ("empty.md", "")):
            (folder / name).write_text(text, "utf-8", "surrogatepass")
            (folder / "notes" / name).write_text(text, "utf-8", "surrogatepass")
        (folder / "notes" / "deep.md").write_text("".join(f"{'#' * (n % 6 + 1)} {n}\n\nText\n" for n in range(300)))
        links = "".join(f"- [Page {name}]({name}): what it says\n" for name in ("/a.md", "/bad.md", "/to.md", "/no.md"))
        pages: dict[str, SitePage | str] = {
            "/llms.txt": f"# Site\n\n## Docs\n\n{links}",
            "/a.md": "# A\n\nThe grace period is long.\n",
            "/bad.md": SitePage(status=500),
            "/to.md": SitePage(status=302, location="/a.md"),
        }
        self.site = FakeSite(pages)
        self.sources = (
            str(self.handbook), str(folder / "notes"), str(folder / "odd.md"), str(folder / "empty.md"),
            str(folder / "missing.md"), self.site.url("/llms.txt"),
        )  # fmt: skip

    def change(self) -> None:
        """Change the document, take it away, or put it back."""
        old, new = self._chance.choice(_CHANGES)
        text = self._chance.choice((self._text, self._text.replace(old, new), self._text[:2_000], ""))
        self.handbook.unlink(missing_ok=True)
        if self._chance.random() < 0.9:
            self.handbook.write_text(text, "utf-8")

    def fail(self) -> None:
        """Let the disk fail after some writes, for some or all that follow; or no more."""
        self.disk.passes = self._chance.randrange(6)
        self.disk.faults = self._chance.choice((0, 0, 1, 3, math.inf))

    def spoil(self) -> None:
        """Delete or damage the file of a conversation."""
        files = sorted((self._folder / "home").rglob("conversations/*.jsonl"))
        if files and self.disk.faults == 0:
            path = self._chance.choice(files)
            if self._chance.random() < 0.5:
                path.unlink()
            else:
                with path.open("ab") as file:
                    file.write(self._chance.choice((b'{"torn', b"\xff\x00\n", b'{"kind": "of tomorrow"}\n')))


class Life:
    """One start of the app, driven until it ends or enough was done."""

    def __init__(self, world: World, chance: random.Random, trail: deque[str], done: Counter[str]) -> None:
        self._world = world
        self._chance = chance
        self._trail = trail
        self._done = done
        self._failures: list[object] = []
        self._model = FaultyModel(chance.randrange(10**6), _MODEL_FAULTS)
        self._models = [self._model]
        self._app = self._make_app()

    def _make_app(self) -> RoamApp:
        settings = load_settings({})
        is_continued = self._chance.random() < 0.5 and self._world.handbook.exists()
        if not self._world.handbook.exists():
            self._world.change()
            self._world.handbook.touch()
        arguments = AppArguments(sources=(str(self._world.handbook),))
        try:
            going_on = AppArguments(
                sources=arguments.sources, conversation=ConversationArguments(resume_latest=is_continued)
            )
            first = launch._open_initial_document(going_on, settings, self._model)
            _ = first.app_context
        except RoamtuiError:  # there is none to go on with
            first = launch._open_initial_document(arguments, settings, self._model)
        opening = DocumentOpener(
            list_offers=_list_offers_here,
            open_source=partial(launch._open_document, arguments, settings),
            suggest_url=lambda _name: None,
            save_settings=lambda _values: None,
        )
        return RoamApp(first, opening, launch._make_initial_options(settings))

    async def live(self, steps: int) -> int:
        """Do so many things, or fewer where the app ends; return how many."""
        asyncio.get_running_loop().set_exception_handler(lambda _loop, told: self._failures.append(told))
        with self._listening():
            async with self._app.run_test(size=(120, 35), notifications=True) as pilot:
                self._hands, self._pilot = Hands(pilot), pilot
                for number in range(steps):
                    async with asyncio.timeout(_STEP_SECONDS):
                        await self._step()
                    if not self._app.is_running or self._app._exit:
                        return number + 1
                    await self._check()
        return steps

    @contextmanager
    def _listening(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for name in _FAILING:
                patch.setattr(f"roamtui.tui.screens.{name}.format_error", self._note_failure)
            patch.setattr("roamtui.tui.app.has_job_control", lambda: False)
            patch.setattr(roamtui.wiring, "make_named_model", self._make_model)
            patch.setattr(roamtui.wiring, "discover_local_models", lambda _settings: ((), "none"))
            patch.setattr(self._app, "open_url", lambda *_given, **_named: None)
            patch.setattr(threading, "excepthook", self._failures.append)
            yield

    def _make_model(self, *_given: object) -> FaultyModel:
        self._models.append(FaultyModel(self._chance.randrange(10**6), _MODEL_FAULTS))
        return self._models[-1]

    def _note_failure(self, error: BaseException | None) -> str:
        if not isinstance(error, RoamtuiError | ZeroDivisionError):
            self._failures.append(error)
        return "It failed."

    @property
    def _main(self) -> MainScreen | None:
        """The document that is shown, None where a person chooses one."""
        return self._app.documents.get(self._app.current_mode)

    async def _step(self) -> None:
        deeds = {
            self._press: 10, self._command: 5, self._ask: 5, self._click: 5, self._go_on: 4, self._type: 3,
            self._resize: 3, self._open: 2, self._change: 1, self._fail: 1, self._spoil: 0.5, self._steal: 0.5,
        }  # fmt: skip
        deed = self._chance.choices(list(deeds), list(deeds.values()))[0]
        name = deed.__name__.strip("_")
        self._done[name] += 1
        self._trail.append(name)
        await deed()

    def _note(self, *given: object) -> None:
        self._trail.append(f"  {' '.join(map(repr, given))}")

    async def _press(self) -> None:
        keys = self._chance.choices(_KEYS, k=self._chance.randint(1, 4))
        if self._chance.random() < 0.9:
            keys = [key for key in keys if key != "ctrl+q"]
        self._note(*keys)
        await self._hands.press(*keys)

    async def _command(self) -> None:
        found = [action for action in self._app.palette.list_actions() if action.id != "global.quit"]
        if found and self._app.screen.is_mounted:
            chosen = self._chance.choice(found)
            self._note(chosen.id)
            await self._app.palette.run(chosen)
        await self._hands.rest()

    async def _ask(self) -> None:
        for _ in range(_SCREENS_MAX):
            if self._app.screen is not self._main:
                await self._hands.press("escape")
        if self._main is None or self._app.screen is not self._main:
            return
        words = self._chance.choice((*_QUESTIONS, self._chance.choice(ODD_WORDS)))
        self._main.question_box.fill(words)
        self._main.question_box.focus()
        await self._hands.press("enter")

    async def _click(self) -> None:
        width, height = self._app.screen.size
        place = self._chance.randrange(max(1, width)), self._chance.randrange(max(1, height))
        kinds: list[list[Any]] = [
            [events.MouseDown, events.MouseUp, events.Click], [events.MouseMove], [events.MouseDown],
            [events.MouseUp], [events.MouseScrollDown], [events.MouseScrollUp],
        ]  # fmt: skip
        chosen = self._chance.choices(kinds, [8, 2, 1, 1, 2, 2])[0]
        self._note(place, *(kind.__name__ for kind in chosen))
        if width and height:
            await self._pilot._post_mouse_events(chosen, None, place, button=1, times=self._chance.choice((1, 1, 2)))
        await self._hands.rest()

    async def _go_on(self) -> None:
        for model in self._models:
            model.go_on()
        await self._hands.rest()

    async def _type(self) -> None:
        words = self._chance.choice((*ODD_WORDS, *_QUESTIONS, *self._world.sources))
        self._note(words[:40])
        self._app.post_message(events.Paste(words))
        await self._hands.rest()

    async def _resize(self) -> None:
        size = self._chance.choice(_SIZES)
        self._note(size)
        await self._hands.resize(*size)

    async def _open(self) -> None:
        source = self._chance.choice(self._world.sources)
        self._note(source)
        if self._main is not None and self._app.screen is self._main:
            self._main.post_message(DocumentRequested(source))
        await self._hands.rest()

    async def _change(self) -> None:
        self._world.change()
        await self._hands.press("f5")

    async def _fail(self) -> None:
        self._world.fail()
        self._note(self._world.disk.passes, self._world.disk.faults)

    async def _spoil(self) -> None:
        self._world.spoil()

    async def _steal(self) -> None:
        """Go on with the conversation that is shown in another program."""
        if self._main is not None and self._world.disk.faults == 0:
            store = self._main.session.store
            if store is not None and any(one.id == self._main.session.state.id for one in store.list()):
                store.rename(self._main.session.state.id, "stolen")
        await self._hands.rest()

    async def _check(self) -> None:
        await self._hands.until(lambda: not self._find_untrue(), _PASSAGE_WAIT, self._tell_untrue)
        main = self._main
        if main is not None and main.startup.is_ready:
            state, log = main.session.state, main.session._log
            check_messages(tuple(state.transcript.iter_messages()))
            if len(log.events) < _LOG_MAX or self._chance.random() < 0.02:
                assert fold_events(state.library, log.events, state.options) == state, "the log gives another state"
            if len(state.transcript.exchanges) > 60 and not main.is_asking:
                main.action_new_conversation()

    def _tell_untrue(self) -> str:
        return f"{self._find_untrue()}\n{screen_text(self._app)}"

    def _find_untrue(self) -> str:
        """Return what is not as it must be, empty where all is; some of it may become true in a moment."""
        if self._app._exception is not None:
            raise self._app._exception
        if self._failures:
            return f"failed: {self._failures}"
        text = screen_text(self._app)
        if sanitise_text(text) != text:
            return f"control sequences: {sanitise_text(text)!r}"
        main = self._main
        if main is None or not main.is_mounted or not main.startup.is_ready:
            return ""
        state = main.session.state
        return _compare_tree(main, state) or _compare_chat(main, state) or _compare_status(main, state)


def _list_offers_here() -> tuple[tuple[StartOffer, ...], str]:
    """Return what is offered on this machine: no fuzz reaches out into the world."""
    offers, problem = launch._list_offers()
    return tuple(offer for offer in offers if "https://" not in offer.source), problem


def _compare_tree(main: MainScreen, state: ConversationState) -> str:
    tree = main.tree_pane.outline
    shown = 0
    for line, section_id in enumerate(tree.lines):
        text = tree._renderer.draw(line, _TREE_WIDTH, tree._read_palette()).text
        section = state.get_open(section_id)
        sign = f"{'◆' if section.opened_by is Origin.AGENT else '◇'}{'…' * section.is_closing} " if section else ""
        if section and (sign not in text or ("⚑" in text) != section.is_pinned):
            return f"the tree shows {text!r}, it is {section}"
        inside = _OPEN_INSIDE.search(text)
        shown += (section is not None) + (int(inside[1]) if inside else 0)
    known = sum(section.section_id in state.library for section in state.open_sections)
    if shown != known:
        return f"the tree shows {shown} open sections of {known}"
    return "" if tree.lines.unfolded == state.unfolded else "the tree unfolds other nodes"


def _compare_chat(main: MainScreen, state: ConversationState) -> str:
    shown = main.chat_log._shown
    exchanges = state.transcript.exchanges
    numbers = [view.number for view in shown]
    if numbers != list(range(len(exchanges) - len(shown) + 1, len(exchanges) + 1)) or bool(shown) != bool(exchanges):
        return f"the chat shows {numbers} of {len(exchanges)} questions"
    for view, exchange in zip(shown, exchanges[len(exchanges) - len(shown) :], strict=True):
        if exchange.stopped is not None and view.answer != exchange.answer:
            return f"the chat shows {view.answer!r} as answer {exchange.number}, it is {exchange.answer!r}"
    return ""


def _compare_status(main: MainScreen, state: ConversationState) -> str:
    status = main.status_line.status
    if (status.open_count, status.open_tokens) != (len(state.open_sections), state.open_tokens):
        return f"the status line shows {status}, open are {len(state.open_sections)} with {state.open_tokens} tokens"
    return "" if main.is_asking or not status.is_asking else "the status line shows an answer under way"


def run(folder: Path, steps: int, seed: int) -> Counter[str]:
    """Do so many random things in an empty home below `folder`, and return what was done how often.

    Raises:
        AssertionError: Something was not as it must be; it tells what was done before.
    """
    chance = random.Random(seed)  # noqa: S311 - what was found can be found again
    trail: deque[str] = deque(maxlen=60)
    done: Counter[str] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("DATA", "CONFIG", "CACHE", "STATE"):
            patch.setenv(f"XDG_{name}_HOME", str(folder / "home" / name.lower()))
        patch.setenv("HOME", str(folder / "home"))
        patch.delenv("EDITOR", raising=False)
        patch.delenv("VISUAL", raising=False)
        patch.chdir(folder)
        world = World(folder, chance, FaultyDisk(patch, folder, names=("write", "fsync", "replace", "lock")))
        try:
            with world.site:
                while steps > 0:
                    done["start"] += 1
                    trail.append("start")
                    steps -= asyncio.run(Life(world, chance, trail, done).live(steps))
        except BaseException as error:
            error.add_note(f"seed {seed}, after {done.total()} steps:\n" + "\n".join(trail))
            raise
        finally:
            gc.unfreeze()
    return done


def main() -> int:
    """Go on for long, and print what was done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        done = run(Path(folder), given.steps, given.seed)
    deeds = ", ".join(f"{count:,} {what}" for what, count in done.most_common())
    sys.stdout.write(f"seed {given.seed}: {deeds}; {process_time():.0f} s of CPU time\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
