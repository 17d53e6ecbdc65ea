"""How much of a PDF's outline, tables and speed roamtui keeps, on real files: `python -m tests.benchmarks.pdf`.

Truth is what was read by hand (`items.json`, `headings.json`), the texts and pages of the questions' evidence, the
files' own bookmarks, taken away, and where neither is, Items by their pattern in pdfium's plain text. Every second
filing, by name, is one that no rule of the reader was written from.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from rapidfuzz import fuzz
from typing_extensions import override

from roamtui.document.node import NodeKind
from roamtui.document.parse import parse_document
from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText, Format
from roamtui.sources.convert.pdf.convert import convert_pdf
from roamtui.sources.convert.subprocess_converter import convert_in_subprocess
from tests.real_documents import find_data_dir

_PLAIN_TEXT = """
import ctypes, json, sys
import pypdfium2_raw as pdfium
data = open(sys.argv[1], "rb").read()
pdfium.FPDF_InitLibrary()
file = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
texts = []
for number in range(pdfium.FPDF_GetPageCount(file)):
    page = pdfium.FPDF_LoadPage(file, number)
    text = pdfium.FPDFText_LoadPage(page)
    count = pdfium.FPDFText_CountChars(text)
    buffer = (ctypes.c_ushort * (count + 1))()
    used = pdfium.FPDFText_GetText(text, 0, count, buffer)
    texts.append(bytes(buffer)[: 2 * max(0, used - 1)].decode("utf-16-le", "replace"))
    pdfium.FPDFText_ClosePage(text)
    pdfium.FPDF_ClosePage(page)
sys.stdout.write(json.dumps(texts))
"""
_ITEM = re.compile(r"\W*(?:part\s+[iv]+\W+)?items?\s*(\d{1,2})\s?(?:\(?([abc])\)?(?![a-z]))?(?=$|[\W_]|[A-Z])", re.I)
_ITEM_LINE = re.compile(
    r"\s*(?:PART\s+[IV]+\W+)?I(?:tem|TEM)S?\s*(\d{1,2})\s?(?:\(?([ABCabc])\)?(?![a-z]))?\s*(?:[.:\u2014\u2013-]|$|(?=[A-Z]))"
)
_CONTENTS_ITEMS_MIN = 9
_STATEMENTS = {
    "IS": re.compile(r"\b(?:income|operations|earnings)\b", re.I),
    "BS": re.compile(r"balance sheet|financial (?:position|condition)", re.I),
    "CF": re.compile(r"cash flow", re.I),
    "EQ": re.compile(r"equity|shareholders|stockholders|shareowners|shareholders.investment", re.I),
}
_STATEMENT = re.compile(r"statement|balance sheet", re.I)
_NOTES = re.compile(r"(?:.{0,40}\b)?notes to (?:the )?(?:\w+ ){0,3}(?:financial )?statements\b.{0,40}", re.I)
_NOTE = re.compile(r"(note\s*)?\(?(\d{1,2})\s*[.)\u2014\u2013:\s-]+(\S.*)", re.I)
_NOTES_SHARE = 0.9
_STATEMENT_TITLE = re.compile(r"(?:\w+ )?statements? of (?!.*notes).*|(?:\w+ )?balance sheets?", re.I)
_NUMBER = re.compile(r"[\d.,]*\d")
_WORDS = re.compile(r"[^\W\d_]+")
_FOOT = re.compile(r"see\s*(?:the\s*)?(?:accompanying\s*)?notes|table of contents|\(continued", re.I)
"""Feet of pages in evidence texts, with the number of the page after them."""
_RATIO_MIN = 88


@dataclass(slots=True)
class Score:
    """How many of how many."""

    found: int = 0
    of: int = 0

    def add(self, found: int, of: int) -> None:
        """Count more."""
        self.found += found
        self.of += of

    @override
    def __str__(self) -> str:
        return f"{self.found}/{self.of}" + (f" ({100 * self.found / self.of:.1f} %)" if self.of else "")


@dataclass(slots=True)
class Group:
    """Scores of several files together."""

    items: Score = field(default_factory=Score)
    pattern: Score = field(default_factory=Score)
    notes: Score = field(default_factory=Score)
    statements: Score = field(default_factory=Score)
    rows: Score = field(default_factory=Score)
    texts: Score = field(default_factory=Score)
    pages: int = 0
    seconds: float = 0.0
    plain_seconds: float = 0.0
    slowest: float = 1e9


@dataclass(frozen=True, slots=True)
class Title:
    """A heading that the reader gave."""

    title: str
    page: int
    level: int


def say(line: str) -> None:
    """Write a line."""
    print(line, flush=True)  # noqa: T201 - the lines are the output


def measure(command: Sequence[str]) -> tuple[str, float]:
    """Return what a program writes, and its seconds of CPU, start included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout.decode(), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def convert_measured(path: Path) -> tuple[ConvertedText, float]:
    """Return a file converted as the program does it, and the seconds of CPU that the process took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    converted = convert_in_subprocess(Format.PDF, path.read_bytes(), path.name)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return converted, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def list_titles(converted: ConvertedText) -> list[Title]:
    """Return the headings with their 1-based pages."""
    columns = parse_document(converted.text).columns
    rows = zip(columns.kinds, columns.titles, columns.starts, columns.levels, strict=False)
    return [
        Title(title, bisect_right(converted.page_starts, start), level)
        for kind, title, start, level in rows
        if kind is NodeKind.SECTION
    ]


def read_item(title: str) -> str | None:
    """Return the number of an Item."""
    match = _ITEM.match(title)
    return f"{int(match[1])}{(match[2] or '').upper()}" if match else None


def find_pattern_items(texts: Sequence[str]) -> dict[str, int]:
    """Return the 1-based page of each Item of a yearly report, by its pattern: the longest rising run of lines."""
    found: list[tuple[tuple[int, str], int]] = []
    for page, text in enumerate(texts, start=1):
        matches = [match for line in text.splitlines() if len(line) < 200 and (match := _ITEM_LINE.match(line))]
        keys = [(int(match[1]), (match[2] or "").upper()) for match in matches if int(match[1]) <= 16]
        if len(set(keys)) < _CONTENTS_ITEMS_MIN:
            found += [(key, page) for key in keys]
    best: list[list[tuple[tuple[int, str], int]]] = []
    for index, (key, page) in enumerate(found):
        chains = [best[other] for other in range(index) if found[other][0] < key]
        best.append([*max(chains, key=len, default=[]), (key, page)])
    chain = max(best, key=len, default=[])
    return {f"{number}{letter}": page for (number, letter), page in chain}


def check_notes(titles: Sequence[Title]) -> str:
    """Return what is wrong with the notes of a yearly or quarterly report; empty if nothing is.

    Notes count from 1 on, nearly all numbers are there, each with a title of its own, and none is below a statement.
    """
    path: list[Title] = []
    last = count = 0
    for title in titles:
        path = [*(above for above in path if above.level < title.level), title]
        around = [above.title for above in path[:-1]]
        match = _NOTE.fullmatch(title.title)
        is_note = match is not None and (match[1] or any(map(_NOTES.fullmatch, around)))
        if match is None or not is_note or int(match[2]) <= last:
            continue
        last = int(match[2])
        count += 1
        statement = next((above for above in around if _STATEMENT_TITLE.fullmatch(above)), None)
        if statement:
            return f"note {last} is below {statement}"
    return "" if count and count >= _NOTES_SHARE * last else f"{count} of {last} notes"


def list_evidence_rows(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield label and figures of each table row of an evidence text, which has a cell on each line."""
    label, figures = "", []
    for line in [*text.split("\n"), "end"]:
        numbers = _NUMBER.findall(line)
        if not _WORDS.search(line.replace("$", "")):
            figures += numbers
            continue
        if label and figures and not _FOOT.match(label):
            yield label, figures
        tail = re.search(r"((?:[\s$()%—-]*[\d.,]*\d[\s$()%—-]*)+)$", line)
        label, figures = (line[: tail.start()], _NUMBER.findall(tail[1])) if tail else (line, [])


def score_evidence(converted: ConvertedText, evidence: Sequence[dict[str, Any]]) -> Iterator[tuple[int, int]]:
    """Yield how many rows of each evidence text stand whole on one line, and how many it has."""
    starts = [*converted.page_starts, len(converted.text)]
    texts = [converted.text[start:end] for start, end in pairwise(starts)]
    for piece in evidence:
        lines = texts[min(piece["page"], len(texts)) - 1].split("\n")
        named = [(_squeeze(line), _NUMBER.findall(line)) for line in lines]
        found = of = 0
        for label, figures in list_evidence_rows(piece["text"]):
            of += 1
            wanted = _squeeze(label)
            found += any(wanted in name and _holds(numbers, figures) for name, numbers in named)
        if of:
            yield found, of


def _squeeze(text: str) -> str:
    return "".join(_WORDS.findall(text)).casefold()


def _holds(numbers: Sequence[str], wanted: Sequence[str]) -> bool:
    """Return whether numbers hold others in their order."""
    rest = iter(numbers)
    return all(number in rest for number in wanted)


def score_titles(titles: Sequence[Title], wanted: Sequence[tuple[str, int]]) -> tuple[int, int]:
    """Return how many wanted titles are there, a page up or down, and how many are there that nobody wants."""
    left = list(titles)
    found = 0
    for title, page in wanted:
        name = _name(title)
        best = max(
            (each for each in left if abs(each.page - page) <= 1),
            key=lambda each: _compare(name, each.title),
            default=None,
        )
        if best is not None and _compare(name, best.title) >= _RATIO_MIN:
            left.remove(best)
            found += 1
    return found, len(left)


def _name(title: str) -> str:
    return re.sub(r"[\W_]+", "", title).casefold()


def _compare(name: str, title: str) -> float:
    bare = re.sub(r"^(?:chapter|part|item|lecture)?\s*[\dIVX]+(?:\.\d+)*[a-c]?[.:)\s]+", "", title, flags=re.I)
    return max(fuzz.ratio(name, _name(title)), fuzz.ratio(name, _name(bare)))


def score_filing(path: Path, truth: dict[str, Any] | None, questions: Sequence[Any], group: Group) -> str:
    """Score a filing, add it to its group, and return a line about it."""
    plain, plain_seconds = measure([sys.executable, "-c", _PLAIN_TEXT, str(path)])
    converted, seconds = convert_measured(path)
    titles = list_titles(converted)
    group.pages += len(converted.page_starts)
    group.seconds += seconds
    group.plain_seconds += plain_seconds
    group.slowest = min(group.slowest, len(converted.page_starts) / seconds)
    said = []
    if truth is not None:
        missed = [
            item
            for item, page in truth["items"].items()
            if not any(each.page == page and read_item(each.title) == item for each in titles)
        ]
        group.items.add(len(truth["items"]) - len(missed), len(truth["items"]))
        said += [f"items missed {missed}"] if missed else []
        missed = [
            name
            for name, page in truth["statements"].items()
            if not any(
                each.page == page and _STATEMENT.search(each.title) and _STATEMENTS[name].search(each.title)
                for each in titles
            )
        ]
        group.statements.add(len(truth["statements"]) - len(missed), len(truth["statements"]))
        said += [f"statements missed {missed}"] if missed else []
    elif "10K" in path.name:
        items = find_pattern_items(json.loads(plain))
        missed = [
            f"{item} p. {page}"
            for item, page in items.items()
            if not any(each.page == page and read_item(each.title) == item for each in titles)
        ]
        group.pattern.add(len(items) - len(missed), len(items))
        said += [f"pattern items missed {missed}"] if missed else []
    if "10K" in path.name or "10Q" in path.name:
        wrong = check_notes(titles)
        group.notes.add(not wrong, 1)
        said += [wrong] if wrong else []
    for question in questions:
        scores = list(score_evidence(converted, question["evidence"]))
        found, of = sum(score[0] for score in scores), sum(score[1] for score in scores)
        group.rows.add(found, of)
        if of:
            group.texts.add(found >= 0.9 * of, 1)
        said += [f"{question['id'][-5:]} rows {found}/{of}"] if found < of else []
    speed = len(converted.page_starts) / seconds
    return f"{path.name[:36]:37}{len(titles):5} titles {speed:5.0f} pages/s  {'; '.join(said)}"


def bench_filings(folder: Path, *, verbose: bool) -> None:
    """Score the filings, every second one as unseen."""
    truths = json.loads((folder / "items.json").read_text())
    questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    groups = {"seen": Group(), "unseen": Group()}
    for number, path in enumerate(sorted((folder / "pdfs").glob("*.pdf"))):
        name = "unseen" if number % 2 else "seen"
        own = [question for question in questions if question["doc"] == path.name]
        line = score_filing(path, truths.get(path.name), own, groups[name])
        if verbose and name == "seen":
            say(line)
    for name, group in groups.items():
        say(
            f"{name}: Items by hand {group.items}, by pattern {group.pattern}, statements {group.statements}, "
            f"notes next to the statements {group.notes}, "
            f"evidence rows {group.rows}, texts {group.texts}; {group.pages / group.seconds:.0f} pages a CPU second "
            f"(slowest {group.slowest:.0f}), {group.seconds / group.plain_seconds:.2f} x pdfium's plain text"
        )


def bench_kinds(folder: Path, *, verbose: bool) -> None:
    """Score PDFs of other kinds against their headings, or their bookmarks."""
    truths = json.loads((folder / "headings.json").read_text())
    found_all = of_all = false_all = 0
    for path in sorted(folder.glob("*.pdf")):
        try:
            converted, seconds = convert_measured(path)
        except SourceError as error:
            say(f"{path.name}: {error}")
            continue
        titles = list_titles(converted)
        line = f"{path.name[:30]:31}{len(titles):5} titles {len(converted.page_starts) / seconds:5.0f} pages/s"
        if path.name in truths:
            wanted = [(each["title"], each["page"]) for each in truths[path.name]["headings"]]
            found, false = score_titles(titles, wanted)
            found_all, of_all, false_all = found_all + found, of_all + len(wanted), false_all + false
            line += f"  peers {found}/{len(wanted)}, others {false}"
        if verbose:
            say(line)
    say(f"other kinds: {found_all}/{of_all} of the peers' headings, {false_all} that no peer states")


def bench_bookmarks(paths: Sequence[Path], *, verbose: bool) -> None:
    """Take the bookmarks of files away, and score what is found without them against them."""
    found_all = of_all = false_all = 0
    for path in paths:
        try:
            whole = convert_pdf(path.read_bytes(), path.name)
            bare = convert_pdf(path.read_bytes(), path.name, uses_bookmarks=False)
        except SourceError:
            continue
        marked = read_bookmarks(path)
        if len(marked) < 5:
            continue
        found, false = score_titles(list_titles(bare), marked)
        found_all, of_all, false_all = found_all + found, of_all + len(marked), false_all + false
        if verbose:
            say(
                f"{path.name[:36]:37} {found}/{len(marked)} bookmarks found without them, others {false}"
                f" ({len(list_titles(whole))} titles with them)"
            )
    say(f"bookmarks taken away: {found_all}/{of_all} found, {false_all} others")


def read_bookmarks(path: Path) -> list[tuple[str, int]]:
    """Return the titles and 1-based pages of a file's bookmarks."""
    from roamtui.sources.convert.pdf.pdfium import PdfFile  # noqa: PLC0415 - loads pdfium into this process

    marks = PdfFile(path.read_bytes(), path.name).read_bookmarks()
    return [(mark.title, mark.page + 1) for mark in marks if mark.page is not None]


def main() -> None:
    """Score what the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verbose", action="store_true", help="a line for each file; of unseen filings never")
    parser.add_argument("--only", choices=("filings", "kinds", "bookmarks"), help="one part")
    parser.add_argument("--more", type=Path, help="a folder of PDFs whose bookmarks are taken away too")
    chosen = parser.parse_args()
    data = find_data_dir()
    if chosen.only in (None, "filings"):
        bench_filings(data / "financebench", verbose=chosen.verbose)
    if chosen.only in (None, "kinds"):
        bench_kinds(data / "pdfs", verbose=chosen.verbose)
    if chosen.only in (None, "bookmarks"):
        paths = [*sorted((data / "pdfs").glob("*.pdf")), *sorted((data / "financebench" / "pdfs").glob("*.pdf"))[::2]]
        bench_bookmarks([*paths, *(sorted(chosen.more.glob("*.pdf")) if chosen.more else [])], verbose=chosen.verbose)


if __name__ == "__main__":
    main()
