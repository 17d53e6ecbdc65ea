"""Whether the passages of an offline answer hold what was asked: `python -m tests.benchmarks.passages [--sample N]`.

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
from roamtui.agent.offline import list_passages
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.transcript import StopReason
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.document.tokens import estimate_tokens
from roamtui.models.registry import NoModel
from roamtui.search.keyword import KeywordSearcher
from tests.benchmarks.measuring import TABLE_HEAD, Finding, format_finding
from tests.real_documents import find_data_dir

_GOALS = {"anthropic-docs": 95, "ray-docs": 75, "vespa-docs": 93, "cuad-contracts": 65}
"""Least share, in %, of the questions whose gold text is inside a passage."""
_FOREIGN_SETS = ("anthropic-docs", "ray-docs", "vespa-docs")
_TOKENS_MAX = 900
_WRONG = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    is_found: bool
    has_gold: bool
    tokens: int


@lru_cache(maxsize=256)
def _open(path: Path) -> tuple[Library, KeywordSearcher]:
    library = Library(source=str(path), root=parse_document(path.read_text("utf-8")))
    return library, KeywordSearcher(library)


async def _ask(path: Path, question: str, gold: str) -> _Outcome:
    library, searcher = _open(path)
    agent = Agent(Conversation(library), NoModel(), searcher)
    await agent.ask(question)
    exchange = agent.conversation.state.transcript.exchanges[-1]
    passages = [_normalise(passage.quote or "") for passage in list_passages(exchange)]
    return _Outcome(
        is_found=exchange.stopped is not StopReason.NOT_FOUND,
        has_gold=any(_normalise(gold) in text for text in passages),
        tokens=sum(map(estimate_tokens, passages)),
    )


def _normalise(text: str) -> str:
    return " ".join(text.split())


def _read_questions(name: str, count: int | None) -> list[dict[str, Any]]:
    lines = (find_data_dir() / "sets" / name / "questions.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    return questions if count is None or count >= len(questions) else random.Random(0).sample(questions, count)  # noqa: S311 - not a secret


def bench_passages(count: int | None) -> Iterator[Finding]:
    """Yield how many questions the passages answer, of `count` questions from each set, or of all for None."""
    sets = find_data_dir() / "sets"
    right: list[_Outcome] = []
    for name, goal in _GOALS.items():
        outcomes = [
            asyncio.run(_ask(sets / name / "docs" / question["doc"], question["question"], question["gold_text"]))
            for question in _read_questions(name, count)
        ]
        right += outcomes
        label = f"{name}, {len(outcomes)} questions"
        yield _make_share(f"{label}: gold text inside a passage", [one.has_gold for one in outcomes], goal)
        tokens = median(one.tokens for one in outcomes if one.is_found)
        yield Finding(
            what=f"{label}: tokens of an answer",
            value=f"{tokens:,.0f}",
            goal=f"≤ {_TOKENS_MAX}",
            is_met=tokens <= _TOKENS_MAX,
        )
    yield _make_share("found in the right document", [one.is_found for one in right], 97)
    yield _make_share("not found in a wrong document", [not one.is_found for one in _ask_wrong_documents(sets)], 90)


def _ask_wrong_documents(sets: Path) -> Iterator[_Outcome]:
    chance = random.Random(0)  # noqa: S311 - not a secret
    docs = {name: sorted({question["doc"] for question in _read_questions(name, None)}) for name in _FOREIGN_SETS}
    asked = [(name, question) for name in _FOREIGN_SETS for question in _read_questions(name, 40)]
    for name, question in chance.sample(asked, _WRONG):
        other = chance.choice([other for other in _FOREIGN_SETS if other != name])
        path = sets / other / "docs" / chance.choice(docs[other])
        yield asyncio.run(_ask(path, question["question"], question["gold_text"]))


def _make_share(what: str, outcomes: Sequence[bool], goal: int = 0) -> Finding:
    share = 100 * sum(outcomes) / len(outcomes)
    return Finding(what=what, value=f"{share:.1f} %", goal=f"≥ {goal} %" if goal else "", is_met=share >= goal)


def main() -> None:
    """Print a table with the goals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, help="questions of each set; all if left out")
    sys.stdout.write(f"{TABLE_HEAD}\n")
    for finding in bench_passages(parser.parse_args().sample):
        sys.stdout.write(f"{format_finding(finding)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
