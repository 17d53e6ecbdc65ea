"""Keys, resizes and what the agent does, in any order, at the running app: it goes on, and shows what is true."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from textual.pilot import Pilot
from textual.worker import Worker
from typing_extensions import override

from roamtui.agent.loop import Agent
from roamtui.conversation.commands import (
    CloseAgentSections,
    CollapseSections,
    Command,
    ExpandSections,
    Origin,
    PinSections,
    UndoDeed,
)
from roamtui.conversation.session import Session
from roamtui.document.build import build_library
from roamtui.document.library import Library
from roamtui.errors import ModelError, RoamtuiError
from roamtui.models.base import Retrying
from roamtui.search.keyword import KeywordSearcher
from roamtui.sources.read import RawText
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext
from tests.conversation.conversations import check_messages
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.tui.driving import TEXT, wait_until

CHANGED = TEXT.replace("## Dough", "## Leaven").replace("forty loaves", "fifty loaves")
TITLES = ("Ovens", "Stone oven", "Deck oven", "Steam", "Dough", "Starter", "Larch Lane Bakery", "Leaven")
TREE_KEYS = (*tuple("jkhlgGECaxpzu.{}inN"), "space", "enter")
OTHER_KEYS = ("tab", "shift+tab", "escape", "1", "2", "3", "s", "/", "e", "o", "y", "r", "f", "w", "up", "down", "f8")
BIG_KEYS = ("f1", "f3", "f4", "f5", "f9", "ctrl+p", "ctrl+n", "ctrl+c", "backspace", "pagedown", "enter", "delete")
Deed = Callable[[tuple[str, ...]], Command]
DEEDS: tuple[Deed, ...] = (
    lambda ids: ExpandSections(section_ids=ids, origin=Origin.PERSON),
    lambda ids: CollapseSections(section_ids=ids, origin=Origin.PERSON),
    lambda ids: PinSections(section_ids=ids, is_pinned=True),
    lambda ids: PinSections(section_ids=ids, is_pinned=False),
    lambda _ids: CloseAgentSections(),
    lambda _ids: UndoDeed(),
)
_RUNS = int(os.environ.get("ROAMTUI_APP_RUNS", max(6, settings().max_examples // 40)))
"""Each takes a second or two; a failure is not made shorter, since that takes hundreds of them."""
SIZES = ((120, 35), (40, 12), (64, 20), (150, 40), (200, 15), (20, 6), (90, 60), (1, 1))


def _build(text: str) -> Library:
    return build_library(RawText(text=text, source="bakery.md", name="bakery"))


def _changes_state(worker: Worker[Any]) -> bool:
    return not worker.is_finished and worker.group in ("commands", "reloading")


class RunningApp(RuleBasedStateMachine):
    """One app, driven by rules; its model waits at gates, so that anything happens between its events."""

    @initialize()
    def start(self) -> None:
        self.failures: list[BaseException | None] = []
        self.runner = asyncio.Runner()
        self.text = TEXT
        self.model = ScriptedModel()
        self.gates: list[asyncio.Event] = []
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr("roamtui.tui.screens.main.describe_failure", self._note_failure)
        library = _build(TEXT)
        agent = Agent(Session.start(library), self.model, KeywordSearcher(library))
        self.app = RoamApp(AppContext(agent=agent, read_again=lambda: _build(self.text)))
        self.context = self.app.run_test(size=(120, 35))
        self.pilot: Pilot[None] = self._do(self.context.__aenter__())

    def _note_failure(self, error: BaseException | None) -> str:
        if not isinstance(error, RoamtuiError):
            self.failures.append(error)
        return "It failed."

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 - whatever the work gives
        return self.runner.run(work)

    @override
    def teardown(self) -> None:
        if not hasattr(self, "runner"):
            return
        self.patch.undo()
        for gate in self.gates:
            gate.set()
        self._do(self.context.__aexit__(None, None, None))
        self.runner.close()

    @property
    def session(self) -> Session:
        return self.app.main.session

    @rule(keys=st.lists(st.sampled_from(TREE_KEYS), min_size=1, max_size=4))
    def walk(self, keys: list[str]) -> None:
        self._do(self.pilot.press("escape", "escape", "1", *keys))

    @rule(keys=st.lists(st.sampled_from(TREE_KEYS + OTHER_KEYS + BIG_KEYS), min_size=1, max_size=4))
    def press(self, keys: list[str]) -> None:
        self._do(self.pilot.press(*keys))

    @rule(deed=st.sampled_from(DEEDS), title=st.sampled_from(TITLES))
    def command(self, deed: Deed, title: str) -> None:
        found = [i for i in self.session.state.library.walk() if self.session.state.library.title_of(i) == title]
        self._do(self._act(lambda: self.app.main.send(lambda _state: deed(tuple(found)))))

    @rule(size=st.sampled_from(SIZES))
    def resize(self, size: tuple[int, int]) -> None:
        self._do(self.pilot.resize_terminal(*size))

    @precondition(lambda self: not self.app.main.is_asking)
    @rule(
        steps=st.lists(st.lists(st.sampled_from(TITLES), min_size=1, max_size=3), max_size=3),
        ending=st.sampled_from(["cited", "cited", "not found", "error", "overflow", "retry"]),
    )
    def ask(self, steps: list[list[str]], ending: str) -> None:
        library = self.session.state.library
        ids = {library.title_of(section_id): section_id for section_id in library.walk()}
        stone = ids.get("Stone oven", "deadbeef")
        self.model._replies[len(self.model.requests) :] = []
        for step in steps:
            wanted = [ids.get(title, title) for title in step]
            self._add(ScriptedReply(text="I look.", calls=(("expand_sections", {"section_ids": wanted}),)))
        endings = {
            "cited": ScriptedReply(text=f'It takes "forty loaves" [{stone}].', chunk_size=5),
            "not found": ScriptedReply(text="Not found: no.", calls=()),
            "error": ScriptedReply(text="Ha", error=ModelError("It failed.")),
            "overflow": ScriptedReply(error=ModelError("Too long.", overflow=True)),
            "retry": ScriptedReply(text="Not found.", retries=(Retrying("Busy.", 0.0),), thinking="Hm. "),
        }
        self._add(endings[ending])
        for _ in range(3):
            self._add(ScriptedReply(text="Not found: nothing more."))
        self._do(self._send())

    def _add(self, reply: ScriptedReply) -> None:
        gate = asyncio.Event()
        self.gates.append(gate)
        fields = {
            name: getattr(reply, name) for name in ("text", "calls", "chunk_size", "thinking", "retries", "error")
        }
        self.model.add_replies(ScriptedReply(**fields, gate=gate, gate_after=1))

    async def _send(self) -> None:
        while self.app.screen is not self.app.main:
            await self.pilot.press("escape")
        self.app.main.question_box.fill("How many?")
        self.app.main.question_box.focus()
        await self.pilot.pause()
        await self.pilot.press("enter")

    @precondition(lambda self: any(not gate.is_set() for gate in self.gates))
    @rule()
    def let_the_model_go_on(self) -> None:
        self._do(self._act(next(gate for gate in self.gates if not gate.is_set()).set))

    @precondition(lambda self: self.app.main.is_asking)
    @rule()
    def cancel(self) -> None:
        self._do(self._act(self.app.main.action_copy_or_cancel))

    @rule()
    def change_the_document(self) -> None:
        self.text = CHANGED if self.text == TEXT else TEXT
        self._do(self._act(self.app.main.action_reload))

    async def _act(self, action: Callable[[], None]) -> None:
        action()
        await self.pilot.pause()

    @invariant()
    def it_shows_what_is_true(self) -> None:
        if not hasattr(self, "pilot"):
            return
        self._do(self._settle())
        assert self.failures == []
        assert self.app._exception is None
        state = self.session.state
        check_messages(tuple(state.transcript.messages()))
        tree = self.app.main.tree_pane.outline
        looks = {section_id: tree.look_at(line) for line, section_id in enumerate(tree.lines)}
        for section_id, look in looks.items():
            section = state.find_open(section_id)
            assert look.opened_by is (section.opened_by if section else None)
            assert look.is_pinned is (section is not None and section.is_pinned)
            assert look.is_closing is (section is not None and section.is_closing)
        shown = sum((look.opened_by is not None) + look.open_inside for look in looks.values())
        assert shown == len(state.open)
        assert tree.lines.unfolded == state.unfolded

    async def _settle(self) -> None:
        """Wait for all but what waits at a gate."""
        await wait_until(self.pilot, lambda: not any(map(_changes_state, self.app.workers)))


TestRunningApp = RunningApp.TestCase
TestRunningApp.settings = settings(
    max_examples=_RUNS, stateful_step_count=20, phases=(Phase.explicit, Phase.reuse, Phase.generate)
)
