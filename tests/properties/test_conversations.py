"""A conversation stays consistent, whatever the agent, the person, the provider and the power supply do."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace
from typing_extensions import override

from roamtui.agent.agent import Agent
from roamtui.agent.options import AgentOptions
from roamtui.conversation.budget import KeepOpenMode, OpenSectionOptions
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import ConversationEvent, Origin
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.messages import Message, Role
from roamtui.conversation.state import ConversationState
from roamtui.conversation.update import (
    AskOptions,
    ChooseAnswer,
    CloseSections,
    Command,
    FoldNodes,
    OpenSections,
    PinSections,
)
from roamtui.errors import ModelError
from roamtui.models.base import ModelRequest
from roamtui.outline.expansion import annotate_with_ids
from roamtui.text import merge_bounds
from tests.anomalies.waits import cancel_at_wait
from tests.conversation.conversations import TEXT, check_messages, make_library
from tests.fakes.replay import replay_events
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply, make_refusal

_TITLES = (
    "Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta", "Parent", "Child one", "Child two", "Long", "Below long",
)  # fmt: skip
_SMALL = [title for title in _TITLES if title not in ("Long", "Parent")]
_LAST_WORDS = {title: f"{title.lower().replace(' ', '-')}-39" for title in _SMALL}
"""The last word of each section, which no outline shows."""
_CHANGES = (
    ("alpha-3 ", "ALPHA-3 "),
    ("## Parent", "## Renamed"),
    ("## Zeta\n", "## Eta\n"),
    ("Introduction.", "Hello."),
)


@dataclass(frozen=True)
class _Script:
    """The course of one question."""

    steps: tuple[tuple[str, ...], ...]
    collapses: tuple[str, ...]
    ending: str
    meanwhile: tuple[tuple[int, str, str], ...]
    """Commands of the person during the question: number of events before it, name and section title."""
    cancel_at: int
    """Number of the `await` at which the question is cancelled; 0 if it is not."""
    is_again: bool
    """Whether it replaces the last question, if there is one."""


_titles = st.sampled_from(_TITLES)
_wanted = _titles | st.sampled_from(["Long:2", "Long:3", "Manual:c1", "deadbeef", "Manual", "Alpha:9"])
_command_names = st.sampled_from(["open", "close", "pin", "unpin", "fold", "unfold", "read"])
_scripts = st.builds(
    _Script,
    steps=st.lists(st.lists(_wanted, min_size=1, max_size=4).map(tuple), max_size=3).map(tuple),
    collapses=st.lists(_titles, max_size=2).map(tuple),
    ending=st.sampled_from(["cited", "cited", "uncited", "not found", "empty", "error", "overflow"]),
    meanwhile=st.lists(st.tuples(st.integers(1, 9), _command_names, _titles), max_size=2).map(tuple),
    cancel_at=st.sampled_from([0, 0, 0, 1, 2, 3, 5, 8, 13, 21]),
    is_again=st.sampled_from([False, False, True]),
)


class Conversations(RuleBasedStateMachine):
    """Plays conversations and checks all invariants after each step."""

    @initialize(
        mode=st.sampled_from(KeepOpenMode),
        budget=st.sampled_from([300, 900, 32_000]),
        window=st.sampled_from([7_000, 128_000]),
    )
    def start(self, mode: KeepOpenMode, budget: int, window: int) -> None:
        self.runner = asyncio.Runner()
        self.text = TEXT
        self.folder = TemporaryDirectory()
        self.store = ConversationStore(Path(self.folder.name))
        self.options = OpenSectionOptions(mode=mode, budget_tokens=budget)
        self.window = window
        self.conversation = Conversation(make_library(), store=self.store, options=self.options)
        self.model_name = "one"
        self.instructions = ""
        self.sent: tuple[Message, ...] = ()
        self.spent = 0.0

    @override
    def teardown(self) -> None:
        if hasattr(self, "runner"):
            self.runner.close()
            self.conversation.close()
            self.folder.cleanup()

    @property
    def state(self) -> ConversationState:
        return self.conversation.state

    def _ids(self, *titles: str) -> tuple[str, ...]:
        """Turn titles into ids. Other texts stay unchanged."""
        by_title = {self.state.library.node(i).title: i for i in reversed([*self.state.library.walk()])}
        parts = [title.partition(":") for title in titles]
        return tuple(by_title.get(title, title) + colon + page for title, colon, page in parts)

    def _make_command(self, name: str, title: str) -> Command:
        ids = self._ids(title)
        commands: dict[str, Command] = {
            "open": OpenSections(section_ids=ids, origin=Origin.PERSON),
            "close": CloseSections(section_ids=ids, origin=Origin.PERSON),
            "pin": PinSections(section_ids=ids, is_pinned=True),
            "unpin": PinSections(section_ids=ids, is_pinned=False),
            "fold": FoldNodes(section_ids=ids),
            "unfold": FoldNodes(section_ids=ids, is_folded=False),
        }
        return commands[name]

    @rule(script=_scripts)
    def ask(self, script: _Script) -> None:
        keeps = not self.state.needs_rebuild and self.state.model in ("", self.model_name)
        is_plain = keeps and self.options.mode is not KeepOpenMode.FRESH and self.window > 10_000
        is_plain = is_plain and not script.is_again
        before = self.sent = self.sent if is_plain else ()
        options = AgentOptions(instructions=self.instructions)
        model = ScriptedModel(window_tokens=self.window, name=self.model_name)
        model.facts = replace(model.facts, prices=(1e-6, 1e-6))
        agent = Agent(self.conversation, model, options=options)
        agent.use_model(model)
        model.add_replies(*self._write_replies(script))
        self.runner.run(self._play(agent, script))
        for request in model.requests:
            check_messages(request.messages)
        # One that asks briefly, after an unusable reply, stands apart from the others.
        sent = [request.messages for request in model.requests if request.messages[0].role is Role.SYSTEM]
        if sent:
            if before:
                assert sent[0][: len(before)] == before, "a request begins with the previous one"
            self.sent = sent[-1]
        if self.state.needs_rebuild or script.ending == "overflow":
            self.sent = ()

    async def _play(self, agent: Agent, script: _Script) -> None:
        """Ask. The person's commands begin right after the events that their numbers count."""
        commands: list[asyncio.Task[None]] = []
        events: list[ConversationEvent] = []
        is_open = True

        def listen(event: ConversationEvent) -> None:
            events.append(event)
            for number, name, title in script.meanwhile:
                if is_open and number == len(events):
                    commands.append(asyncio.create_task(self._dispatch(name, title)))

        self.conversation.subscribe(listen)
        exchanges = self.state.exchanges
        options = AskOptions(replaces=exchanges[-1] if script.is_again and exchanges else None)
        asking = agent.ask("Why?", options)
        if script.cancel_at:
            await cancel_at_wait(asking, script.cancel_at)
        else:
            await asking
        is_open = False
        await asyncio.gather(*commands)

    async def _dispatch(self, name: str, title: str) -> None:
        if name == "read":
            (section_id,) = self._ids(title)
            await self.conversation.record_reading(section_id if section_id in self.state.library else None)
        else:
            await self.conversation.execute(self._make_command(name, title))

    def _write_replies(self, script: _Script) -> list[Reply]:
        replies = [
            ScriptedReply(text="I look.", calls=(("expand_sections", {"section_ids": [*self._ids(*step)]}),))
            for step in script.steps
        ]
        if script.collapses:
            calls = (("collapse_sections", {"section_ids": [*self._ids(*script.collapses)]}),)
            replies.append(ScriptedReply(calls=calls))
        (alpha,) = self._ids("Alpha")
        cited = ScriptedReply(text=f'It says "alpha-1 alpha-2" [{alpha}].', chunk_size=8)
        endings = {
            "cited": [cited],
            "uncited": [ScriptedReply(text="So."), ScriptedReply(text="So it is.")],
            "not found": [ScriptedReply(text="Not found: no.")],
            "empty": [ScriptedReply(), ScriptedReply()],
            "error": [ScriptedReply(text="Ha", error=ModelError("It failed."))],
            "overflow": [ScriptedReply(error=make_refusal()), cited],
        }
        replies += endings[script.ending]
        return [self._checked(reply) for reply in replies]

    def _checked(self, reply: ScriptedReply) -> Reply:
        def check(request: ModelRequest) -> ScriptedReply:
            self._check_request(request)
            return reply

        return check

    def _check_request(self, request: ModelRequest) -> None:
        """Check that the request has all delivered text exactly once."""
        text = "\n".join(message.text for message in request.messages)
        for section in self.state.open_sections.values():
            for span in section.deliveries:
                assert annotate_with_ids(self.state.library, span, section_id=section.section_id) in text
        for words in _LAST_WORDS.values():
            assert text.count(words) <= 1

    @rule(name=_command_names, title=_titles)
    def do(self, name: str, title: str) -> None:
        self.runner.run(self._dispatch(name, title))

    def _resume(self) -> None:
        self.conversation.close()
        saved_id = self.state.id
        self.conversation = Conversation(make_library(self.text), store=self.store, options=self.options)
        self.conversation.resume(saved_id)

    @precondition(lambda self: self.state.exchanges)
    @rule()
    def resume(self) -> None:
        before = self.state
        self._resume()
        assert replace(self.state, library=before.library, options=before.options) == before

    @precondition(lambda self: self.state.exchanges)
    @rule(change=st.sampled_from(_CHANGES), is_resumed=st.booleans())
    def change_the_document(self, change: tuple[str, str], *, is_resumed: bool) -> None:
        old, new = change if change[0] in self.text else (change[1], change[0])
        self.text = self.text.replace(old, new)
        if is_resumed:
            self._resume()
        else:
            self.runner.run(self.conversation.reload(make_library(self.text)))
        self.sent = ()

    @precondition(lambda self: any(exchange.earlier or exchange.later for exchange in self.state.exchanges))
    @rule()
    def choose_another_answer(self) -> None:
        exchange = next(exchange for exchange in self.state.exchanges if exchange.earlier or exchange.later)
        index = 0 if exchange.earlier else 1
        self.runner.run(self.conversation.execute(ChooseAnswer(number=exchange.number, index=index)))
        self.sent = ()

    @rule(name=st.sampled_from(["one", "two"]))
    def switch_model(self, name: str) -> None:
        self.model_name = name

    @rule(text=st.sampled_from(["", "Answer in German.", "Be brief.\n\nQuestion: none"]))
    def change_instructions(self, text: str) -> None:
        self.instructions = text

    @invariant()
    def everything_is_consistent(self) -> None:
        state = self.state
        assert not state.is_asking
        if not state.needs_rebuild:  # otherwise the next request has other messages
            check_messages(tuple(state.iter_messages()))
        assert len(set(state.open_sections)) == len(state.open_sections)
        assert all(section_id in state.library for section_id in (*state.open_sections, *state.unfolded))
        assert not any(section.is_closing for section in state.open_sections.values())
        _check_deliveries(state)
        assert [exchange.number for exchange in state.exchanges] == [*range(1, len(state.exchanges) + 1)]
        assert all(exchange.stopped is not None for exchange in state.exchanges)
        citations = (citation for exchange in state.exchanges for citation in exchange.citations)
        assert state.cited >= {citation.section_id for citation in citations}

    @invariant()
    def what_was_spent_never_falls(self) -> None:
        spent = self.state.spent.cost_usd or 0.0
        assert spent >= self.spent
        self.spent = spent

    @invariant()
    def the_log_restores_the_state(self) -> None:
        state = self.state
        if state.exchanges:
            self.conversation.flush()
            assert replay_events(state.library, self.store.read(state.id).events, state.options) == state


def _check_deliveries(state: ConversationState) -> None:
    bounds: Sequence[tuple[int, int]] = [
        (s.start, s.end) for section in state.open_sections.values() for s in section.deliveries
    ]
    merged = merge_bounds(bounds)
    assert sum(end - start for start, end in merged) == sum(end - start for start, end in bounds), "no overlap"
    for section in state.open_sections.values():
        subtree = state.library.node(section.section_id).span
        assert all(subtree.start <= span.start < span.end <= subtree.end for span in section.deliveries)


TestConversations = Conversations.TestCase
TestConversations.settings = settings(
    max_examples=max(1, settings().max_examples // 2),
    stateful_step_count=15,
    phases=(Phase.generate,),  # to make a failing walk shorter takes minutes
)
