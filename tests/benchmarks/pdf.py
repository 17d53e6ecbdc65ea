"""How much of a PDF's outline, tables and speed roamtui keeps, on filings: `python -m tests.benchmarks.pdf`.

Truth is what was read by hand (`items.json`), and the texts and pages of the questions' evidence. Every second filing,
by name, is one that no rule of the reader was written from.
"""

import argparse
import json
import re
import resource
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from roamtui.convert.conversion import convert
from roamtui.convert.converted import ConvertedText
from roamtui.convert.formats import PDF
from roamtui.document.document import NodeKind
from roamtui.document.parse import parse_document
from tests.real_documents import find_data_dir

_ITEM = re.compile(r"\W*(?:part\s+[iv]+\W+)?items?\s*(\d{1,2})\s?(?:\(?([abc])\)?(?![a-z]))?(?=$|[\W_]|[A-Z])", re.I)
_NUMBER = re.compile(r"[\d.,]*\d")
_WORDS = re.compile(r"[^\W\d_]+")
_FOOT = re.compile(r"see\s*(?:the\s*)?(?:accompanying\s*)?notes|table of contents|\(continued", re.I)
"""Feet of pages in evidence texts, with the number of the page after them."""


def read_child_seconds() -> float:
    """Return the processor time of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def list_titles(converted: ConvertedText) -> list[tuple[str, int]]:
    """Return the headings with their 1-based pages."""
    columns = parse_document(converted.text).columns
    rows = zip(columns.kinds, columns.titles, columns.starts, strict=False)
    return [
        (title, bisect_right(converted.page_starts, start)) for kind, title, start in rows if kind is NodeKind.SECTION
    ]


def is_item(title: str, item: str) -> bool:
    """Return whether a heading is that of an Item, such as 7A."""
    match = _ITEM.match(title)
    return match is not None and f"{int(match[1])}{(match[2] or '').upper()}" == item


def list_evidence_rows(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield label and figures of each table row of an evidence text, which has a cell on each line."""
    label = ""
    figures = []
    for line in [*text.split("\n"), "end"]:
        numbers = _NUMBER.findall(line)
        if not _WORDS.search(line.replace("$", "")):
            figures += numbers
            continue
        if label and figures and not _FOOT.match(label):
            yield label, figures
        tail = re.search(r"((?:[\s$()%—-]*[\d.,]*\d[\s$()%—-]*)+)$", line)
        label, figures = (line[: tail.start()], _NUMBER.findall(tail[1])) if tail else (line, [])


def score_evidence(converted: ConvertedText, evidence: Sequence[dict[str, Any]]) -> Iterator[bool]:
    """Yield for each row of the evidence texts whether it stands whole on one line of its page."""
    texts = [converted.text[start:end] for start, end in pairwise([*converted.page_starts, len(converted.text)])]
    for piece in evidence:
        lines = texts[min(piece["page"], len(texts)) - 1].split("\n")
        named = [(_squeeze(line), _NUMBER.findall(line)) for line in lines]
        for label, figures in list_evidence_rows(piece["text"]):
            wanted = _squeeze(label)
            yield any(wanted in name and _holds(numbers, figures) for name, numbers in named)


def _squeeze(text: str) -> str:
    return "".join(_WORDS.findall(text)).casefold()


def _holds(numbers: Sequence[str], wanted: Sequence[str]) -> bool:
    """Return whether numbers hold others in their order."""
    rest = iter(numbers)
    return all(number in rest for number in wanted)


def score_filing(path: Path, truth: dict[str, Any], questions: Sequence[Any]) -> Counter[str]:
    """Return what was found in a filing, of how much, and the seconds that it took."""
    start = read_child_seconds()
    converted = convert(path.read_bytes(), path.name, PDF)
    milliseconds = int(1_000 * (read_child_seconds() - start))
    score: Counter[str] = Counter(pages=len(converted.page_starts), milliseconds=milliseconds)
    titles = list_titles(converted)
    for item, page in truth.get("items", {}).items():
        score["Items"] += 1
        score["Items found"] += any(each == page and is_item(title, item) for title, each in titles)
    for question in questions:
        rows = list(score_evidence(converted, question["evidence"]))
        score["rows"] += len(rows)
        score["rows found"] += sum(rows)
    return score


def bench_filings(folder: Path, count: int | None) -> None:
    """Score the filings, every second one as unseen."""
    truths = json.loads((folder / "items.json").read_text())
    questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    scores: dict[str, Counter[str]] = {"seen": Counter(), "unseen": Counter()}
    for number, path in enumerate(sorted((folder / "pdfs").glob("*.pdf"))[:count]):
        own = [question for question in questions if question["doc"] == path.name]
        scores["unseen" if number % 2 else "seen"] += score_filing(path, truths.get(path.name, {}), own)
    for name, score in scores.items():
        found = ", ".join(f"{what} {score[f'{what} found']}/{score[what]}" for what in ("Items", "rows"))
        speed = 1_000 * score["pages"] / max(1, score["milliseconds"])
        sys.stdout.write(f"{name}: {found}; {speed:.0f} pages a CPU second\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, help="filings; all if left out")
    count = parser.parse_args().sample
    bench_filings(find_data_dir() / "financebench", count)


if __name__ == "__main__":
    main()
