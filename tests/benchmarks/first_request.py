"""What the first request of a question holds, in tokens by our estimate: `python -m tests.benchmarks.first_request`.

Over the books, the lists of pages and the question sets of the data folder, as a table in Markdown. A document without
questions of its own is asked what its headings say; of several questions the median counts.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import median

from roamtui.agent.generated_texts import suggest_questions
from roamtui.agent.loop import Agent
from roamtui.agent.options import AgentOptions, RetrievalStart
from roamtui.conversation.session import Session
from roamtui.conversation.transcript import FOUND_LEAD, HITS_LEAD, QUESTION_START
from roamtui.document.library import Library
from roamtui.document.tokens import estimate_tokens, format_tokens
from roamtui.library_loader import open_library
from roamtui.models.base import ModelRequest
from roamtui.search.keyword import KeywordSearcher
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.real_documents import PROJECT_DIR, find_data_dir, list_documents

_QUESTIONS_MAX = 12
_SETS = ("anthropic-docs", "ray-docs", "vespa-docs", "cuad-contracts")
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


async def _ask(library: Library, searcher: KeywordSearcher, question: str) -> ModelRequest:
    model = ScriptedModel([ScriptedReply(text="Not found: nothing.")])
    options = AgentOptions(confident_start=RetrievalStart.REMOTE)
    _ = [event async for event in Agent(Session.start(library), model, searcher, options).ask(question)]
    return model.requests[0]


def measure(request: ModelRequest) -> dict[str, int]:
    """Return the tokens of the parts of a first request."""
    system, user = (message.text for message in request.messages)
    text, _, question = user.rpartition(f"\n\n{QUESTION_START}")
    text, _, hits = text.partition(HITS_LEAD)
    outline, _, opened = text.partition(FOUND_LEAD)
    tools = "".join(f"{tool.name}{tool.description}{json.dumps(tool.parameters)}" for tool in request.tools)
    texts = {"system": system, "tools": tools, "outline": outline, "opened": opened, "hits": hits}
    tokens = {part: estimate_tokens(text) for part, text in texts.items()}
    return {**tokens, "all": sum(tokens.values()) + estimate_tokens(question)}


def main() -> None:
    """Print a table with a row for each document."""
    sys.stdout.write(f"| document | sections | tokens | {' | '.join(_PARTS)} |\n|---|{'---:|' * (len(_PARTS) + 2)}\n")
    for path, questions in _list_sources():
        library = open_library((str(path),))
        searcher = KeywordSearcher(library)
        asked = questions or suggest_questions(library) or (library.title,)
        measured = [measure(asyncio.run(_ask(library, searcher, question))) for question in asked]
        size = sum(document.tokens_before[-1] for document in library.documents)
        cells = [f"{median(one[part] for one in measured):,.0f}" for part in _PARTS]
        name = path.parent.name if path.name == "docs" else path.name
        sys.stdout.write(f"| {name} | {len(library):,} | {format_tokens(size)} | {' | '.join(cells)} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
