"""roamtui beside the full-text search of SQLite on the question sets: `make compare`.

SQLite gets the same files as chunks of 1,000 characters, and fills as many tokens with its best chunks as the first
message of roamtui has. Evidence is held if 80 % of the words of the gold text stand close together, or of the numbers
that an answer from a filing needs. Tokens are characters / 4, seconds are CPU time, reading included.
"""

import argparse
import asyncio
import json
import os
import random
import re
import sqlite3
import sys
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import pypdfium2  # type: ignore[import-untyped]

from roamtui.agent.agent import Agent
from roamtui.bootstrap import open_library
from roamtui.conversation.conversation import Conversation
from roamtui.document.library import Library
from roamtui.search.searcher import Searcher
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.real_documents import find_data_dir

_SETS = ("anthropic-docs", "ray-docs", "vespa-docs", "cuad-contracts", "financebench")
_CHUNK_SIZE = 1_000
_OVERLAP = 200
_CHUNKS_MAX = 40
_HELD = 0.8
_QUESTIONS_MAX = 60
_STOP_WORD = re.compile(
    r"\b(?:an?|and|are|as|at|be|but|by|can|could|did|do|does|for|from|ha[dsv]e?|how|i[fns]?|into|its?|may|me|more|my|no|"
    r"not|o[fnr]|our|should|so|some|such|than|that|the|their|them|then|there|these|they|this|to|us|was|we|were|what|"
    r"when|where|which|who|why|will|with|would|your?)\b"
)
_WORD, _NUMBER = re.compile(r"[^\W_]+(?:[.,]\d+)*"), re.compile(r"\d[\d,]*(?:\.\d+)?")


class PlainSearch:
    """Full-text search by SQLite, with Porter's stemmer."""

    def __init__(self, chunks: Sequence[str]) -> None:
        self._chunks = chunks
        self._database = sqlite3.connect(":memory:")
        self._database.execute("CREATE VIRTUAL TABLE chunk USING fts5(body, tokenize = 'porter unicode61')")
        self._database.executemany("INSERT INTO chunk(rowid, body) VALUES (?, ?)", enumerate(chunks))

    def fill(self, question: str, length_max: int) -> str:
        """Return the best chunks for a question, up to a length."""
        words = dict.fromkeys(re.findall(r"\w+", _STOP_WORD.sub("", question.lower())))
        match = " OR ".join(f'"{word}"' for word in words) or '"x"'
        query = "SELECT rowid FROM chunk WHERE chunk MATCH ? ORDER BY bm25(chunk) LIMIT ?"
        text = ""
        for (row,) in self._database.execute(query, (match, _CHUNKS_MAX)):
            chunk = self._chunks[row]
            text += chunk if len(text) + len(chunk) <= length_max else ""
        return text


def read_chunks(source: Path) -> Iterator[str]:
    """Yield the chunks of a file, or of all files of a folder, each under its file's name and its heading."""
    for path in [source] if source.is_file() else sorted(source.rglob("*.md")):
        if path.suffix == ".pdf":
            document = pypdfium2.PdfDocument(path)
            text = "\n".join(page.get_textpage().get_text_bounded() for page in document)
        else:
            text = path.read_text("utf-8", "replace")
        headings = [(match.start(), match[1]) for match in re.finditer(r"^#{1,6}\s+(.*)$", text, re.MULTILINE)]
        start = 0
        while start < len(text):
            end = start + _CHUNK_SIZE
            cuts = [text.rfind(mark, start + _CHUNK_SIZE // 2, end) + len(mark) for mark in ("\n\n", "\n", ". ", " ")]
            end = next((cut for cut in cuts if cut > start + _CHUNK_SIZE // 2), end) if end < len(text) else len(text)
            row = bisect_right(headings, ((start + end) // 2, "")) - 1
            yield f"{path.name} > {headings[row][1] if row >= 0 else ''}:\n{text[start:end]}\n\n"
            start = end if end >= len(text) else max(end - _OVERLAP, start + 1)


def holds(question: dict[str, Any], text: str) -> bool:
    """Check whether a text holds the evidence of a question."""
    pieces = [question["gold_text"]] if "gold_text" in question else [one["text"] for one in question["evidence"]]
    needed = set(_list_figures(f"{question.get('justification', '')} {question.get('answer', '')}"))
    needed &= set(_list_figures(" ".join(pieces))) if "gold_text" not in question else set()
    if needed:
        return len(needed.intersection(_list_figures(text))) >= _HELD * len(needed)
    words = [word.replace(",", "") for word in _WORD.findall(text.lower())]
    return fmean(_find_share(piece, words) for piece in pieces) >= _HELD


def _list_figures(text: str) -> list[str]:
    """Return the numbers of a text that are not years or small."""
    numbers = [number.replace(",", "").rstrip(".") for number in _NUMBER.findall(text)]
    return [one for one in numbers if not re.fullmatch(r"(?:19|20)\d\d|\d\d?", one)]


def _find_share(gold_text: str, words: Sequence[str]) -> float:
    """Return the highest share of the first words of a gold text that stand close together."""
    first = [word.replace(",", "") for word in _WORD.findall(gold_text.lower())][:60]
    gold = {word for word in first if not _STOP_WORD.fullmatch(word) and (len(word) > 1 or word.isdigit())}
    size = 2 * len(first) + 20
    seen = Counter[str]()
    best = 0
    for position, word in enumerate(words):
        seen[word] += word in gold
        if position >= size:
            seen[words[position - size]] -= words[position - size] in gold
        best = max(best, sum(count > 0 for count in seen.values())) if word in gold else best
    return best / len(gold) if gold else 1.0


def _ask(library: Library, searcher: Searcher, question: str) -> str:
    """Return the first message of a question without the question."""
    model = ScriptedModel([ScriptedReply(text="Not found: nothing.")])
    asyncio.run(Agent(Conversation(library), model, searcher).ask(question))
    return model.requests[0].messages[-1].text.rpartition("\n\nQuestion: ")[0]


def _measure_seconds() -> float:
    """Return the CPU time of this process and of its children."""
    return sum(os.times()[:4])


def compare_set(name: str) -> str:
    """Ask the questions of a set in both ways, and return a row of the table."""
    folder = find_data_dir() / (name if name == "financebench" else f"sets/{name}")
    questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    documents = folder / ("pdfs" if name == "financebench" else "docs")
    by_source = defaultdict[Path, list[dict[str, Any]]](list)
    for question in random.Random(7).sample(questions, min(_QUESTIONS_MAX, len(questions))):  # noqa: S311 - not a secret
        by_source[documents / question["doc"] if name.startswith(("cuad", "finance")) else documents].append(question)
    tokens: list[int] = []
    held: list[bool] = []
    held_plain: list[bool] = []
    seconds = 0.0
    seconds_plain = 0.0
    for source, asked in by_source.items():
        start = _measure_seconds()
        library = open_library((str(source),))
        searcher = Searcher(library)
        searcher.search(library, "index")
        opened = _measure_seconds()
        plain = PlainSearch([*read_chunks(source)])
        seconds += opened - start
        seconds_plain += _measure_seconds() - opened
        for question in asked:
            message = _ask(library, searcher, question["question"])
            tokens.append(len(message) // 4)
            held.append(holds(question, message))
            held_plain.append(holds(question, plain.fill(question["question"], len(message))))
    shares = f"{100 * fmean(held_plain):.0f} % | {100 * fmean(held):.0f} %"
    return f"| {name} | {len(tokens)} | {fmean(tokens):,.0f} | {shares} | {seconds_plain:.1f} s | {seconds:.1f} s |\n"


def main() -> None:
    """Print a table of evidence and seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=_SETS, default=_SETS)
    given = parser.parse_args()
    sys.stdout.write(f"| set | questions | tokens | FTS5 | roamtui | FTS5 | roamtui |\n|---|{'---:|' * 6}\n")
    with TemporaryDirectory() as home:
        os.environ |= {"HOME": home, "XDG_CACHE_HOME": home, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home}
        for name in given.sets:
            sys.stdout.write(compare_set(name))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
