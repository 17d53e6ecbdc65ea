"""What the first request of a question holds, in estimated tokens: `python -m tests.benchmarks.first_request`.

Over the example and the question sets of the data folder, as a table in Markdown of medians.
"""

from __future__ import annotations

import asyncio
import json
import sys
from itertools import islice
from statistics import median

from roamtui.agent.limits import AgentOptions, estimate_request_tokens
from roamtui.agent.loop import Agent
from roamtui.bootstrap import open_library
from roamtui.conversation.conversation import Conversation
from roamtui.document.library import Library
from roamtui.document.tokens import estimate_tokens
from roamtui.models.base import ModelRequest
from roamtui.search.keyword import KeywordSearcher
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.real_documents import PROJECT_DIR, find_data_dir

_QUESTIONS_MAX = 12
_SETS = ("anthropic-docs", "ray-docs", "vespa-docs", "cuad-contracts")


async def _ask(library: Library, searcher: KeywordSearcher, question: str) -> ModelRequest:
    model = ScriptedModel([ScriptedReply(text="Not found: nothing.")])
    options = AgentOptions(sends_hits=True)
    await Agent(Conversation(library), model, searcher, options).ask(question)
    return model.requests[0]


def main() -> None:
    """Print a table with a row for each set."""
    sys.stdout.write("| document | sections | rules and tools | question, outline and hits |\n|---|---:|---:|---:|\n")
    example = PROJECT_DIR / "examples"
    sets = [find_data_dir() / "sets" / name for name in _SETS]
    for source, asked in [(example / "handbook.md", example), *((folder / "docs", folder) for folder in sets)]:
        library = open_library((str(source),))
        searcher = KeywordSearcher(library)
        with (asked / "questions.jsonl").open(encoding="utf-8") as lines:
            questions = [json.loads(line)["question"] for line in islice(lines, _QUESTIONS_MAX)]
        requests = [asyncio.run(_ask(library, searcher, question)) for question in questions]
        user = [estimate_tokens(request.messages[-1].text) for request in requests]
        rules = estimate_request_tokens(requests[0]) - user[0]
        sys.stdout.write(f"| {asked.name} | {len(library):,} | {rules:,} | {median(user):,.0f} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
