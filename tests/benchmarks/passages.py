"""Whether the passages of the offline model hold what was asked: `python -m tests.benchmarks.passages [--sample N]`.

The questions of the public sets are asked about their own documents, then a hundred of them about a document of another
set, which must be "not found". Contracts are left out there: a question such as "What is the governing law?" fits any.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any

from roamtui.agent.loop import Agent
from roamtui.agent.passages import list_passages
from roamtui.conversation.events import QuestionAnswered
from roamtui.conversation.session import Session
from roamtui.conversation.transcript import QuoteState, StopReason
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.document.tokens import estimate_tokens
from roamtui.models.offline import OfflineModel
from roamtui.search.keyword import KeywordSearcher
from tests.benchmarks.measuring import FINDINGS_HEAD, Finding, format_finding
from tests.real_documents import PROJECT_DIR, find_data_dir

_GOALS = {"anthropic-docs": 95, "ray-docs": 75, "vespa-docs": 93, "cuad-contracts": 65}
"""Least share, in %, of the questions whose gold text is inside a passage."""
_FOREIGN_SETS = ("anthropic-docs", "ray-docs", "vespa-docs")
_TOKENS_MAX = 900
_WRONG = 100
_HANDBOOK = PROJECT_DIR / "examples" / "handbook.md"
_README_QUESTIONS = {
    "How long is the grace period for a late bicycle?": "grace period of 24 hours",
    "Can I drop the folding bike off in the night locker on my way home?": "anything with wheels may never be left",
    "I've done the Saturday petrol course. Is that enough to take a chainsaw home?": "show a chainsaw certificate",
    "Every tallow command dies with T-1103. How far wrong may my clock be?": "at most 120 seconds",
    "A twelve-year-old cut her hand at the shed. Until when do you hold on to the report?": "21st birthday",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    is_found: bool
    place: int | None
    """Number of the passage with the gold text, from 0."""
    tokens: int
    is_exact: bool
    """Whether each passage is in the text letter by letter."""


@lru_cache(maxsize=256)
def _open(path: Path) -> tuple[Library, KeywordSearcher]:
    library = Library(source=str(path), root=parse_document(path.read_text("utf-8")))
    return library, KeywordSearcher(library)


def _ask(path: Path, question: str, gold: str) -> _Outcome:
    library, searcher = _open(path)
    agent = Agent(Session.start(library), OfflineModel(), searcher)

    async def ask() -> QuestionAnswered:
        events = [event async for event in agent.ask(question)]
        answered = events[-1]
        assert isinstance(answered, QuestionAnswered)
        return answered

    answered = asyncio.run(ask())
    passages = [
        _normalise(passage.text) for passage in list_passages(agent.session.state.transcript.exchanges[-1], library)
    ]
    places = (place for place, text in enumerate(passages) if _normalise(gold) in text)
    return _Outcome(
        is_found=answered.stopped is not StopReason.NOT_FOUND,
        place=next(places, None),
        tokens=sum(map(estimate_tokens, passages)),
        is_exact=all(citation.state is QuoteState.FOUND for citation in answered.citations),
    )


def _normalise(text: str) -> str:
    return " ".join(text.split())


def _read_questions(name: str, count: int | None) -> list[dict[str, Any]]:
    lines = (find_data_dir() / "sets" / name / "questions.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    return questions if count is None or count >= len(questions) else random.Random(0).sample(questions, count)  # noqa: S311 - not a secret


def bench_passages(count: int | None = 60) -> Iterator[Finding]:
    """Yield how many questions the passages answer, of `count` questions from each set, or of all for None."""
    sets = find_data_dir() / "sets"
    right: list[_Outcome] = []
    for name, goal in _GOALS.items():
        outcomes = [
            _ask(sets / name / "docs" / question["doc"], question["question"], question["gold_text"])
            for question in _read_questions(name, count)
        ]
        right += outcomes
        label = f"{name}, {len(outcomes)} questions"
        yield _make_share(f"{label}: gold text inside a passage", [one.place is not None for one in outcomes], goal)
        yield _make_share(f"{label}: inside the first", [one.place == 0 for one in outcomes])
        tokens = median(one.tokens for one in outcomes if one.is_found)
        yield Finding(
            what=f"{label}: tokens of an answer",
            value=f"{tokens:,.0f}",
            goal=f"≤ {_TOKENS_MAX}",
            is_met=tokens <= _TOKENS_MAX,
        )
    refused = [not one.is_found for one in right]
    yield _make_share("not found in the right document", refused, 3, is_most=True)
    yield _make_share("passages that are in the text letter by letter", [one.is_exact for one in right])
    yield _make_share("not found in a wrong document", [not one.is_found for one in _ask_wrong_documents(sets)], 88)
    asked = [_ask(_HANDBOOK, question, gold) for question, gold in _README_QUESTIONS.items()]
    yield _make_share("questions of the README: answered", [one.place is not None for one in asked], 100)
    yield _make_share("questions of the README: by the first passage", [one.place == 0 for one in asked], 80)


def _ask_wrong_documents(sets: Path) -> Iterator[_Outcome]:
    chance = random.Random(0)  # noqa: S311 - not a secret
    docs = {name: sorted({question["doc"] for question in _read_questions(name, None)}) for name in _FOREIGN_SETS}
    asked = [(name, question) for name in _FOREIGN_SETS for question in _read_questions(name, 40)]
    for name, question in chance.sample(asked, _WRONG):
        other = chance.choice([other for other in _FOREIGN_SETS if other != name])
        yield _ask(sets / other / "docs" / chance.choice(docs[other]), question["question"], question["gold_text"])


def _make_share(what: str, outcomes: Sequence[bool], goal: int | None = None, *, is_most: bool = False) -> Finding:
    share = 100 * sum(outcomes) / len(outcomes)
    if goal is None:
        return Finding(what=what, value=f"{share:.1f} %")
    is_met = share <= goal if is_most else share >= goal
    return Finding(what=what, value=f"{share:.1f} %", goal=f"{'≤' if is_most else '≥'} {goal} %", is_met=is_met)


def main() -> None:
    """Print a table with the goals."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.passages", description="Passages beside goals.")
    parser.add_argument("--sample", type=int, help="questions of each set; all if left out")
    arguments = parser.parse_args()
    sys.stdout.write(f"{FINDINGS_HEAD}\n")
    for finding in bench_passages(arguments.sample):
        sys.stdout.write(f"{format_finding(finding)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
