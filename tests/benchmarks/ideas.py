"""What search brings, and what each of its ideas is worth: `python -m tests.benchmarks.ideas [--without IDEA...]`.

Public questions are asked in three ways. The first request of a model: does it hold the evidence, and in how many
tokens? Passages without a model: do they hold the gold text, and is a question about another document "not found"?
Search alone: is the gold section among five hits for follow-ups, mistyped titles and German questions? A pass takes a
minute of CPU time, and one more for each idea. Choose by one half of the questions, and report the other.
"""

import argparse
import asyncio
import hashlib
import json
import random
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from statistics import mean, median
from typing import Any

from roamtui.agent.loop import Agent, AgentOptions
from roamtui.agent.presentation import list_passages
from roamtui.bootstrap import open_library
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import StopReason
from roamtui.document.library import Library
from roamtui.markdown import passages, units
from roamtui.models.base import Model
from roamtui.models.registry import NoModel
from roamtui.retrieval import excerpt, policy
from roamtui.retrieval.policy import RetrievalPolicy
from roamtui.search import keyword, sentences
from roamtui.search.keyword import KeywordSearcher
from tests.benchmarks.compare import holds
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.real_documents import PROJECT_DIR, find_data_dir

_DATA = find_data_dir()
_REQUESTS = {"anthropic-docs": 999, "ray-docs": 999, "vespa-docs": 120, "cuad-contracts": 150, "financebench": 999}
"""Number of questions of each set for the first request."""
_PASSAGES = {"anthropic-docs": 999, "ray-docs": 80, "vespa-docs": 60, "cuad-contracts": 100}
_FOREIGN_SETS = ("anthropic-docs", "ray-docs", "vespa-docs")
"""Contracts are left out: a question such as "What is the governing law?" fits any of them."""
_WRONG = 100
_HITS_MAX = 5
_TITLES = 60
"""Number of titles that are mistyped in each source."""
_TITLE_WORD_LENGTH_MIN = 6

IDEAS: dict[str, Sequence[tuple[object, str, object]]] = {
    "statements that a question names": [(keyword, "find_statements", lambda *_: [])],
    "words that a question implies": [(keyword, "get_implied_words", lambda _: ())],
    "the best sentence of a section": [(keyword, "_boost_by_best_sentence", lambda _, scores, __: dict(scores))],
    "words of the title": [(keyword, "_TITLE_SHARE", 0)],
    "words of the path": [(keyword, "_PATH_SHARE", 0)],
    "early sentences": [(sentences, "_EARLY_BONUS", 0)],
    "synonyms": [(keyword, "_list_synonyms", lambda *_: ([], []))],
    "corrections": [(keyword, "suggest_corrections", lambda *_: {})],
    "a clear hit comes open": [(policy, "DEFAULT_POLICY", RetrievalPolicy(runner_up_share_max=-1.0))],
    "topics of the conversation": [(keyword, "recall_topics", lambda *_: {})],
    "head and total of a table": [(excerpt, "_find_frame", lambda *_: [])],
}
"""For each idea, the names to replace in modules and classes, and the values that switch it off."""


@cache
def _open(path: Path) -> tuple[Library, KeywordSearcher]:
    library = open_library((str(path),))
    return library, KeywordSearcher(library)


def _read_questions(name: str, count: int = 999) -> list[dict[str, Any]]:
    folder = _DATA / name if name == "financebench" else _DATA / "sets" / name
    questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    return questions if count >= len(questions) else random.Random(3).sample(questions, count)  # noqa: S311 - not a secret


def _find_source(name: str, question: dict[str, Any], *, is_folder: bool) -> Path:
    folder = _DATA / name / "pdfs" if name == "financebench" else _DATA / "sets" / name / "docs"
    return folder if is_folder and name in _FOREIGN_SETS else folder / str(question["doc"])


def _is_in_first_half(name: str, question: dict[str, Any]) -> bool:
    key = question["question" if name == "cuad-contracts" else "doc"]
    return hashlib.sha256(key.encode()).digest()[0] % 2 == 0


async def _ask(path: Path, question: str, model: Model) -> Agent:
    library, searcher = _open(path)
    options = AgentOptions(sends_hits=True, policy=policy.DEFAULT_POLICY)
    agent = Agent(Conversation(library), model, searcher, options)
    await agent.ask(question)
    return agent


def measure_requests() -> Iterator[str]:
    """Yield a line for each set: the share of first requests with the evidence, also by halves, and mean tokens."""
    for name, count in _REQUESTS.items():
        halves: dict[bool, list[bool]] = {True: [], False: []}
        tokens = []
        for question in _read_questions(name, count):
            model = ScriptedModel([ScriptedReply(text="Not found: nothing.")])
            asyncio.run(_ask(_find_source(name, question, is_folder=True), question["question"], model))
            text = model.requests[0].messages[-1].text
            evidence = text.rpartition("\n\nQuestion: ")[0] or text
            halves[_is_in_first_half(name, question)].append(holds(question, evidence))
            tokens.append(len(text) // 4)
        first, second = (_format_share(half) for half in halves.values())
        whole = _format_share([*halves[True], *halves[False]])
        yield f"{name}: {whole} of requests hold the evidence ({first}, {second}), {mean(tokens):,.0f} tokens"


def _normalise(text: str) -> str:
    return " ".join(text.split())


def _find_passages(path: Path, question: str) -> tuple[bool, list[str]]:
    """Ask without a model. Return whether anything was found, and the passages."""
    state = asyncio.run(_ask(path, question, NoModel())).conversation.state
    exchange = state.exchanges[-1]
    texts = [_normalise(passage.quote or "") for passage in list_passages(exchange)]
    return exchange.stopped is not StopReason.NOT_FOUND, texts


def measure_passages() -> Iterator[str]:
    """Yield a line for each set: the share of answers without a model with the gold text; then wrong documents."""
    for name, count in _PASSAGES.items():
        held, tokens = [], []
        for question in _read_questions(name, count):
            path = _find_source(name, question, is_folder=False)
            _, texts = _find_passages(path, question["question"])
            held.append(any(_normalise(question["gold_text"]) in text for text in texts))
            tokens.append(sum(map(len, texts)) // 4)
        yield f"{name}: {_format_share(held)} of passages hold the gold text, {median(tokens):,.0f} tokens"
    chance = random.Random(0)  # noqa: S311 - not a secret
    docs = {name: sorted({question["doc"] for question in _read_questions(name)}) for name in _FOREIGN_SETS}
    asked = [(name, question) for name in _FOREIGN_SETS for question in _read_questions(name, 40)]
    refused = []
    for name, question in chance.sample(asked, _WRONG):
        other = chance.choice([other for other in _FOREIGN_SETS if other != name])
        path = _DATA / "sets" / other / "docs" / chance.choice(docs[other])
        refused.append(not _find_passages(path, question["question"])[0])
    yield f"not found in a wrong document: {_format_share(refused)}"


def measure_hits() -> Iterator[str]:
    """Yield a line for each kind of question: how often the section that is meant is among five hits."""
    for name in ("dstc10-followups", "dstc11-followups"):
        found = [_has_gold(_DATA / "sets" / name / "docs", question) for question in _read_questions(name)]
        yield f"{name}: Hit@5 {_format_share(found)}"
    chance, found = random.Random(5), []  # noqa: S311 - not a secret
    for path in (_DATA / "sets" / "ray-docs" / "docs", _DATA / "sets" / "vespa-docs" / "docs", _DATA / "books"):
        library, searcher = _open(path)
        known = [one for one in library.walk() if 2 <= len(library.node(one).title.split()) <= 6]
        for section_id in chance.sample([one for one in known if library.node(one).title.isascii()], _TITLES):
            title = library.node(section_id).title
            word = max(title.split(), key=len)
            if len(word) >= _TITLE_WORD_LENGTH_MIN:
                at = chance.randrange(1, len(word) - 2)
                slip = f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}"
                hits = searcher.search(title.replace(word, slip, 1), limit=_HITS_MAX)
                found.append(any(library.node(hit.section_id).title == title for hit in hits))
    yield f"mistyped titles: Hit@5 {_format_share(found)}"
    lines = (PROJECT_DIR / "tests" / "cases" / "questions_de.jsonl").read_text("utf-8").splitlines()
    german = [json.loads(line) for line in lines]
    yield f"German: Hit@5 {_format_share([_has_gold(_DATA / 'books' / one['doc'], one) for one in german])}"


def _has_gold(path: Path, question: dict[str, Any]) -> bool:
    library, searcher = _open(path)
    earlier = tuple(message["content"] for message in question.get("history", ()))
    hits = searcher.search(question["question"], limit=_HITS_MAX, earlier=earlier)
    gold = tuple(question["gold_section_titles_path"])
    return any(library.node(hit.section_id).path[-len(gold) :] == gold for hit in hits)


def _format_share(outcomes: Sequence[bool]) -> str:
    return f"{100 * mean(outcomes):.1f} %"


def _measure(label: str) -> None:
    sys.stdout.write(f"{label}\n")
    for part in (measure_requests, measure_passages, measure_hits):
        for line in part():
            sys.stdout.write(f"  {line}\n")
            sys.stdout.flush()


def main() -> None:
    """Measure with all ideas, then without each that is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without", nargs="+", default=(), choices=IDEAS, metavar="IDEA", help=", ".join(IDEAS))
    without = parser.parse_args().without
    _measure("with all ideas")
    for idea in without:
        before = [(owner, name, getattr(owner, name)) for owner, name, _ in IDEAS[idea]]
        for owner, name, value in IDEAS[idea]:
            setattr(owner, name, value)
        for cached in (units.read_units, passages.split_passages):
            cached.cache_clear()
        _measure(f"without: {idea}")
        for owner, name, value in before:
            setattr(owner, name, value)


if __name__ == "__main__":
    main()
