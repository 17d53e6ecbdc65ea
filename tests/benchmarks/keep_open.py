"""Simulates ten-question conversations in each keep-open mode: `python -m tests.benchmarks.keep_open`.

Real questions of one document, seven in ten near the last gold section, through the real loop and session. The model
opens the gold section with three that search finds, as models do, unless the gold one was given already, and
cites it: so only what stays open differs between the modes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from roamtui.agent.loop import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.state import ConversationState, KeepOpenMode, OpenSectionOptions
from roamtui.conversation.transcript import Message, ToolCall
from roamtui.document.library import Library
from roamtui.document.loader import build_library
from roamtui.document.node import NodeKind
from roamtui.document.tokens import estimate_tokens
from roamtui.models.base import ModelEvent, ModelRequest, ReplyFinished, TextDelta, ToolCallReceived
from roamtui.search.base import Searcher
from roamtui.search.keyword import KeywordSearcher
from roamtui.sources.read import read_source
from tests.real_documents import find_data_dir

SETS = ("vespa-docs", "ray-docs", "cuad-contracts")
QUESTIONS = 10
_NEAR_SHARE = 0.7
BUDGET_TOKENS = 8_000
_QUESTIONS_MIN = 4
_OTHERS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldQuestion:
    """A question with the section that answers it."""

    text: str
    line: int
    section_id: str


@dataclass(slots=True)
class Tally:
    """What a mode cost over all sessions."""

    sent: int = 0
    uncached: int = 0
    questions: int = 0
    already_open: int = 0
    reopened: int = 0
    highest_open: int = 0
    opened_before: set[str] = field(default_factory=set)


class GoldModel:
    """Opens the gold section of the question at hand unless its text was given, and cites it."""

    name = "gold"
    window_tokens = 128_000

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._previous: Sequence[Message] = ()
        self.gold = ""
        self.others: tuple[str, ...] = ()
        self.is_open = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield one call, then an answer."""
        self._count(request.messages)
        if self.is_open:
            yield TextDelta(f"It says so in [{self.gold}].")
            yield ReplyFinished("stop")
            return
        self.is_open = True
        arguments = json.dumps({"section_ids": [self.gold, *self.others]})
        yield ToolCallReceived(
            ToolCall(id=f"call_{len(request.messages)}", name="expand_sections", arguments=arguments)
        )
        yield ReplyFinished("tool_calls")

    async def close(self) -> None:
        """Nothing is held."""

    def _count(self, messages: Sequence[Message]) -> None:
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(messages, self._previous, strict=False)))
        tokens = [estimate_tokens(f"{message.text}{message.tool_calls}") for message in messages]
        self._tally.sent += sum(tokens)
        self._tally.uncached += sum(tokens[shared:])
        self._previous = messages


def load_documents(name: str) -> Iterator[tuple[Library, list[GoldQuestion]]]:
    """Yield each document of a set that has enough questions, with those whose gold section is found."""
    folder = find_data_dir() / "sets" / name
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    by_doc: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_doc[row["doc"]].append(row)
    for doc, questions in sorted(by_doc.items()):
        if len(questions) < _QUESTIONS_MIN:
            continue
        library = build_library(read_source(str(folder / "docs" / doc)))
        ids_by_line = {
            node.start_line: node.id for node in map(library.node, library.walk()) if node.kind is NodeKind.SECTION
        }
        found = [
            GoldQuestion(text=row["question"], line=row["gold_line"], section_id=ids_by_line[row["gold_line"]])
            for row in questions
            if row["gold_line"] in ids_by_line
        ]
        if len(found) >= _QUESTIONS_MIN:
            yield library, found


def choose_questions(questions: list[GoldQuestion], chance: random.Random) -> list[GoldQuestion]:
    """Return ten questions: seven in ten are about the gold section that is nearest to the one before, else any."""
    chosen = [chance.choice(questions)]
    while len(chosen) < QUESTIONS:
        last = chosen[-1]
        others = [question for question in questions if question.text != last.text]
        if chance.random() < _NEAR_SHARE:
            nearest = min(abs(other.line - last.line) for other in others)
            others = [other for other in others if abs(other.line - last.line) == nearest]
        chosen.append(chance.choice(others))
    return chosen


async def run_session(
    library: Library, questions: list[GoldQuestion], searcher: Searcher, mode: KeepOpenMode, tally: Tally
) -> None:
    """Ask the questions in one conversation and add what it cost."""
    session = Conversation(library, options=OpenSectionOptions(mode=mode, budget_tokens=BUDGET_TOKENS))
    model = GoldModel(tally)
    agent = Agent(session, model)
    tally.opened_before = set()
    for question in questions:
        model.gold = question.section_id
        hits = searcher.search(question.text, limit=_OTHERS + 1)
        model.others = tuple(hit.section_id for hit in hits if hit.section_id != model.gold)[:_OTHERS]
        model.is_open = mode is not KeepOpenMode.FRESH and _is_given(session.state, question.section_id)
        tally.questions += 1
        tally.already_open += model.is_open
        if not model.is_open:
            wanted = {question.section_id, *model.others}
            closed = wanted & tally.opened_before - set(session.state.open_ids)
            tally.reopened += len(wanted & tally.opened_before if mode is KeepOpenMode.FRESH else closed)
            tally.opened_before |= wanted
        await agent.ask(question.text)
        tally.highest_open = max(tally.highest_open, session.state.open_tokens)


def _is_given(state: ConversationState, section_id: str) -> bool:
    own = state.library.own_span(section_id)
    return any(start <= own.start and own.end <= end for start, end in state.collect_delivered().get(own.doc, ()))


async def simulate(sessions_each: int) -> dict[KeepOpenMode, Tally]:
    """Return what each mode costs over the same sessions."""
    tallies = {mode: Tally() for mode in KeepOpenMode}
    for name in SETS:
        rng = random.Random(f"1:{name}")  # noqa: S311 - a seeded choice of questions
        documents = list(load_documents(name))
        for library, questions in rng.sample(documents, min(sessions_each, len(documents))):
            chosen = choose_questions(questions, rng)
            searcher = KeywordSearcher(library)
            for mode, tally in tallies.items():
                await run_session(library, chosen, searcher, mode, tally)
    return tallies


def main() -> None:
    """Run the simulation and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=20, help="documents of each set")
    tallies = asyncio.run(simulate(parser.parse_args().sample))
    sys.stdout.write("| mode | tokens sent | uncached | gold already open | re-opens | highest open text |\n")
    sys.stdout.write(f"|---|{'---:|' * 5}\n")
    for mode, tally in tallies.items():
        counts = f"{tally.sent:,} | {tally.uncached:,} | {100 * tally.already_open / max(1, tally.questions):.0f} %"
        sys.stdout.write(f"| `{mode.value}` | {counts} | {tally.reopened} | {tally.highest_open:,} |\n")


if __name__ == "__main__":
    main()
