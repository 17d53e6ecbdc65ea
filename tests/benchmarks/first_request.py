"""What the first request of a question holds, in tokens by our estimate: `python -m tests.benchmarks.first_request`.

Over the books, the lists of pages and the question sets of the data folder, as a table in Markdown. A document without
questions of its own is asked what its headings say; of several questions the median counts. With `golds` it says, over
every third question of each set (`golds 1`: the next ones), how often what a question brings holds the words of the
evidence, another part of a gold section, or nothing of one, and how many tokens that is beside the outline.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from statistics import median

from roamtui.agent.examples import propose_questions
from roamtui.agent.loop import Agent
from roamtui.agent.options import AgentOptions, ConfidentStart
from roamtui.agent.starting import Start, find_start
from roamtui.conversation.session import Session
from roamtui.conversation.transcript import FOUND_LEAD, HITS_LEAD, QUESTION_START
from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.document.tokens import estimate_tokens, format_tokens
from roamtui.evaluation.golds import find_gold_ids
from roamtui.evaluation.questions import EvalQuestion, read_questions
from roamtui.libraries import open_library
from roamtui.models.base import Request
from roamtui.search.keyword import KeywordSearcher
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.real_documents import PROJECT_DIR, find_data_dir, list_documents

_QUESTIONS_MAX = 12
_SETS = ("anthropic-docs", "ray-docs", "vespa-docs", "cuad-contracts")
_EVIDENCE_SHARE = 0.8
"""Of the pairs of words of the evidence, that must be there."""
_PARTS = ("system", "tools", "outline", "opened", "hits", "all")


def _list_sources() -> Iterator[tuple[Path, Sequence[str]]]:
    """Yield each source with its questions, none where its headings shall be asked for."""
    yield PROJECT_DIR / "examples" / "handbook.md", _read_questions(PROJECT_DIR / "examples" / "questions.jsonl")
    data = find_data_dir()
    for name in _SETS:
        yield data / "sets" / name / "docs", _read_questions(data / "sets" / name / "questions.jsonl")
    for contract in sorted((data / "sets" / "cuad-contracts" / "docs").iterdir())[:1]:
        yield contract, ()
    for name in list_documents("books/*.md", "llms/full/*"):
        yield data / name, ()


def _read_questions(path: Path) -> tuple[str, ...]:
    with path.open(encoding="utf-8") as lines:
        return tuple(json.loads(line)["question"] for line in islice(lines, _QUESTIONS_MAX))


async def _ask(library: Library, searcher: KeywordSearcher, question: str) -> Request:
    model = ScriptedModel([ScriptedReply(text="Not found: nothing.")])
    options = AgentOptions(confident_start=ConfidentStart.REMOTE)
    _ = [event async for event in Agent(Session.start(library), model, searcher, options).ask(question)]
    return model.requests[0]


def measure(request: Request) -> dict[str, int]:
    """Return the tokens of the parts of a first request."""
    system, user = (message.text for message in request.messages)
    text, _, question = user.rpartition(f"\n\n{QUESTION_START}")
    text, _, hits = text.partition(HITS_LEAD)
    outline, _, opened = text.partition(FOUND_LEAD)
    tools = "".join(f"{tool.name}{tool.description}{json.dumps(tool.parameters)}" for tool in request.tools)
    texts = {"system": system, "tools": tools, "outline": outline, "opened": opened, "hits": hits}
    tokens = {part: estimate_tokens(text) for part, text in texts.items()}
    return {**tokens, "all": sum(tokens.values()) + estimate_tokens(question)}


def judge(question: EvalQuestion, evidence: str, library: Library, start: Start) -> str:
    """Return what a question brings of its golds: `evidence`, wherever its words stand, `part` or `absent`."""
    spans = [*start.listed.excerpts, *map(library.shown_span, start.opened)]
    given = _split_words(" ".join(library.text_at(span) for span in spans))
    wanted = [*pairwise(_split_words(evidence))]
    if wanted and len({*wanted} & {*pairwise(given)}) >= _EVIDENCE_SHARE * len({*wanted}):
        return "evidence"
    documents = {document.key if library.grafts else question.doc: document for document in library.documents}
    golds = [library.shown_own_span(section_id) for section_id in find_gold_ids(question, documents).strict]
    return "part" if any(_overlaps(gold, span) for gold in golds for span in spans) else "absent"


def _split_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _overlaps(one: Span, other: Span) -> bool:
    return one.doc == other.doc and one.start < other.end and other.start < one.end


def print_golds(offset: int) -> None:
    """Print a row for each set; a contract is asked alone."""
    sys.stdout.write(f"| set | questions | evidence | part | absent | tokens |\n|---|{'---:|' * 5}\n")
    for name in _SETS:
        folder = find_data_dir() / "sets" / name
        with (folder / "questions.jsonl").open(encoding="utf-8") as lines:
            evidence = {row["id"]: row.get("gold_text", "") for row in map(json.loads, lines)}
        asked = read_questions(folder / "questions.jsonl").questions[offset::3]
        found, tokens = [], []
        path, library, searcher = Path(), None, None
        for question in sorted(asked, key=lambda one: one.doc):
            wanted = folder / "docs" / (question.doc if name.startswith("cuad") else "")
            if library is None or searcher is None or wanted != path:
                path, library = wanted, open_library((str(wanted),))
                searcher = KeywordSearcher(library)
            start = asyncio.run(find_start(searcher, Session.start(library).state, question.question, None))
            found.append(judge(question, evidence[question.id], library, start))
            tokens.append(estimate_tokens(start.listed.text) + sum(library.node(i).tokens for i in start.opened))
        cells = [f"{found.count(what) / len(found):.1%}" for what in ("evidence", "part", "absent")]
        sys.stdout.write(f"| {name} | {len(found)} | {' | '.join(cells)} | {median(tokens):,.0f} |\n")
        sys.stdout.flush()


def main() -> None:
    """Print a table with a row for each document, or what questions bring of golds."""
    if sys.argv[1:2] == ["golds"]:
        print_golds(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
        return
    sys.stdout.write(f"| document | sections | tokens | {' | '.join(_PARTS)} |\n|---|{'---:|' * (len(_PARTS) + 2)}\n")
    for path, questions in _list_sources():
        library = open_library((str(path),))
        searcher = KeywordSearcher(library)
        asked = questions or propose_questions(library) or (library.title,)
        measured = [measure(asyncio.run(_ask(library, searcher, question))) for question in asked]
        size = sum(document.tokens_before[-1] for document in library.documents)
        cells = [f"{median(one[part] for one in measured):,.0f}" for part in _PARTS]
        name = path.parent.name if path.name == "docs" else path.name
        sys.stdout.write(f"| {name} | {len(library):,} | {format_tokens(size)} | {' | '.join(cells)} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
