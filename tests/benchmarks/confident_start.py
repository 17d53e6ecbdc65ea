"""What a confident start is worth: steps, section text and gold sections opened, with and without it.

Asked of the question's document: the offline model, and a model that answers as soon as the gold section is open and
else searches and opens the four best. Run as `python -m tests.benchmarks.confident_start [SET...]`.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from statistics import fmean, median

from roamtui.agent.options import AgentOptions, ConfidentStart
from roamtui.conversation.transcript import ToolCall
from roamtui.document.library import Library
from roamtui.evaluation.golds import GoldIds, find_gold_ids
from roamtui.evaluation.questions import EvalQuestion, read_questions
from roamtui.evaluation.rows import AgentScore
from roamtui.evaluation.running import ask_agent, build_document_library
from roamtui.models.base import CallMade, Model, ModelEvent, ModelStopped, Request, TextDelta
from roamtui.models.offline.model import OfflineModel
from roamtui.models.offline.reading import read_messages
from roamtui.search.keyword import KeywordSearcher
from tests.real_documents import find_data_dir

CALIBRATED = ("ray-docs", "cuad-contracts", "dstc10-followups")
CONFIRMED = ("anthropic-docs", "vespa-docs", "dstc11-followups")
_QUESTIONS_MAX = 400
_OPENED = 4


@dataclass(frozen=True, slots=True)
class JudgeModel:
    """Answers at once where a gold section is open; else searches, opens the best, and answers."""

    golds: GoldIds
    name: str = "judge"
    window_tokens: int | None = 128_000

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """Yield a search, an expansion, or an answer."""
        reading = read_messages(request.messages)
        has_gold = not self.golds.strict.isdisjoint(reading.given_ids)
        call: tuple[str, dict[str, object]] | None = None
        if not has_gold and not reading.has_searched:
            call = ("search_sections", {"query": reading.question})
        elif not has_gold and "expand_sections" not in reading.steps:
            ids = [hit.section_id for hit in reading.found if hit.section_id not in reading.given_ids][:_OPENED]
            call = ("expand_sections", {"section_ids": ids}) if ids else None
        if call is None:
            yield TextDelta("Not found: this model only looks.")
            yield ModelStopped("stop")
        else:
            name, arguments = call
            yield CallMade(ToolCall(id=f"call_{len(request.messages)}", name=name, arguments=json.dumps(arguments)))
            yield ModelStopped("tool_calls")

    async def close(self) -> None:
        """Nothing is held."""


def choose_questions(name: str) -> list[EvalQuestion]:
    """Return the questions of a set, of many a sample; those for which any section counts say nothing here."""
    questions = read_questions(find_data_dir() / "sets" / name / "questions.jsonl").questions
    strict = [question for question in questions if not question.is_page]
    return random.Random(0).sample(strict, min(len(strict), _QUESTIONS_MAX))  # noqa: S311 - a sample


async def measure(name: str) -> list[str]:
    """Return a line for each model of a set."""
    questions = choose_questions(name)
    materials: dict[str, tuple[Library, KeywordSearcher]] = {}
    scores: dict[tuple[str, bool], list[AgentScore]] = {}
    for question in questions:
        if question.doc not in materials:
            library = build_document_library(find_data_dir() / "sets" / name / "docs", question.doc)
            materials[question.doc] = (library, KeywordSearcher(library))
        library, searcher = materials[question.doc]
        golds = find_gold_ids(question, {question.doc: library.root})
        for model in (OfflineModel(), JudgeModel(golds)):
            for has_start in (False, True):
                start = ConfidentStart.ALWAYS if has_start else ConfidentStart.OFF
                options = AgentOptions(confident_start=start)
                score = await ask_agent(question, library, searcher, _as_model(model), golds, options)
                scores.setdefault((model.name, has_start), []).append(score)
    lines = []
    for model_name in ("offline", "judge"):
        without, with_start = scores[model_name, False], scores[model_name, True]
        cells = [_describe(without, with_start, part) for part in ("steps", "tokens", "median", "gold")]
        lines.append(f"| {name} | {model_name} | {' | '.join(cells)} |")
    return lines


def _as_model(model: Model) -> Model:
    return model


def _describe(without: list[AgentScore], with_start: list[AgentScore], part: str) -> str:
    values = []
    for scores in (without, with_start):
        if part == "steps":
            values.append(f"{fmean(score.steps for score in scores):.2f}")
        elif part == "tokens":
            values.append(f"{fmean(score.tokens for score in scores):,.0f}")
        elif part == "median":
            values.append(f"{median(score.tokens for score in scores):,.0f}")
        else:
            values.append(f"{fmean(score.gold_opened for score in scores):.1%}")
    return " → ".join(values)


async def main(names: list[str]) -> None:
    """Print the table."""
    sys.stdout.write("| set | model | steps | tokens | median tokens | gold opened |\n|---|---|---:|---:|---:|---:|\n")
    for name in names or (*CALIBRATED, *CONFIRMED):
        for line in await measure(name):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
