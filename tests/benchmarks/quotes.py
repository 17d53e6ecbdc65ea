"""How often a true quote is found, and a false one not: `python -m tests.benchmarks.quotes`.

True quotes are drawn from books, filings as PDF and folders of documentation, and each is made false in eleven ways.
What the text has is told by a reader of its own (`tests/quotes/visible_text.py`).
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

from roamtui.convert.pdf.convert import convert_pdf
from roamtui.quotes.find import find_quote
from tests.benchmarks.false_quotes import make_false
from tests.benchmarks.true_quotes import Quote, draw_true_quotes
from tests.quotes.visible_text import Part, read_parts
from tests.real_documents import find_data_dir, list_documents, read_document

Source = tuple[str, ...]
"""The files of a book, a filing or a folder of documentation."""
_FILINGS = 10
_FOLDERS = ("anthropic-docs", "cuad-contracts", "dstc10-followups", "ray-docs", "vespa-docs")
_FILES_OF_A_FOLDER = 25
_QUOTES = 200
"""True quotes of each source."""
IS_THERE = "found, and the text has it"
_PART_LENGTH_MIN = 60_000
"""Characters of the text in which a quote is looked up, about what a conversation has read in the end."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A quote that the program judged."""

    way: str
    """The kind of a true quote, or how it was made false."""
    is_found: bool
    quote: str
    place: str
    """Document and line."""


def list_sources(books: int | None) -> Iterator[Source]:
    """Yield what quotes are drawn from; with a number, only so many books and nothing else."""
    for name in list_documents("books/*.md")[:books]:
        yield (name,)
    if books is not None:
        return
    filings = list_documents("financebench/pdfs/*.pdf")
    for name in filings[:: -(-len(filings) // _FILINGS)]:
        yield (name,)
    for folder in _FOLDERS:
        names = list_documents(f"sets/{folder}/docs/**/*.md")
        if names:
            yield tuple(names[:: -(-len(names) // _FILES_OF_A_FOLDER)])


@lru_cache(maxsize=4)
def read_source(source: Source) -> Sequence[tuple[str, Part]]:
    """Return the parts of each file with its name. A filing is converted as the program converts it."""
    parts: list[tuple[str, Part]] = []
    for name in source:
        if name.endswith(".pdf"):
            text = convert_pdf((find_data_dir() / name).read_bytes(), name).text
        else:
            text = read_document(name)
        parts += ((name, part) for part in read_parts(text, _PART_LENGTH_MIN))
    return parts


def judge_true(source: Source, count: int = _QUOTES) -> list[Judgement]:
    """Look up true quotes of a source."""
    return [_judge(name, quote, quote.kind, quote.text) for name, quote in _draw_quotes(source, count)]


def judge_false(source: Source, count: int = _QUOTES) -> list[Judgement]:
    """Make true quotes of a source false, and look them up."""
    return [
        _judge(name, quote, way, changed)
        for name, quote in _draw_quotes(source, count)
        for way, changed in make_false(quote, random.Random(quote.text))  # noqa: S311 - the same quotes each time
    ]


def _draw_quotes(source: Source, count: int) -> Iterator[tuple[str, Quote]]:
    """Yield true quotes of a source, each with the name of its document."""
    parts = read_source(source)
    names = {id(part): name for name, part in parts}
    seed = source[0].rpartition("/")[2] if len(source) == 1 else "/".join(source[0].split("/")[:2])
    chance = random.Random(seed)  # noqa: S311 - the same quotes each time
    for quote in draw_true_quotes([part for _, part in parts], count, chance):
        yield names[id(quote.part)], quote


def _judge(name: str, quote: Quote, way: str, words: str) -> Judgement:
    """Look up words that were made from a true quote, or are it."""
    text = quote.part.source
    match = find_quote(words, text)
    start = match.start if match else max(0, text.find(quote.text[:12]))
    is_there = match is not None and words != quote.text and quote.part.contains(words, in_any_case=not match.is_exact)
    return Judgement(
        way=IS_THERE if is_there else way,
        is_found=match is not None,
        quote=words,
        place=f"{name}:{quote.part.first_line + text.count(chr(10), 0, start)}",
    )


def judge_sources(judge: Callable[[Source], list[Judgement]], books: int | None) -> list[Judgement]:
    """Judge the quotes of all sources in two processes, the longest source first."""
    folder = find_data_dir()
    sources = sorted(list_sources(books), key=lambda source: -sum((folder / name).stat().st_size for name in source))
    with ProcessPoolExecutor(2) as pool:
        return [one for judged in pool.map(judge, sources) for one in judged]


def print_judged(judged: Sequence[Judgement], *, should_be_found: bool) -> None:
    """Print how many quotes of each way are found, and those that are judged wrongly."""
    counts, found = Counter(one.way for one in judged), Counter(one.way for one in judged if one.is_found)
    sys.stdout.write(f"| {'true' if should_be_found else 'false'} quotes | tried | found |\n|---|--:|--:|\n")
    sys.stdout.writelines(f"| {way} | {count} | {found[way]} |\n" for way, count in sorted(counts.items()))
    sys.stdout.write(f"| all | {counts.total() - counts[IS_THERE]} | {found.total() - found[IS_THERE]} |\n\n")
    wrong = [one for one in judged if one.is_found is not should_be_found and one.way != IS_THERE]
    for one in sorted(wrong, key=lambda one: (one.way, one.place)):
        sys.stdout.write(f"- {one.way}, {one.place}: {one.quote!r}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--books", type=int, help="take this many books, and no other documents")
    books = parser.parse_args().books
    print_judged(judge_sources(judge_true, books), should_be_found=True)
    print_judged(judge_sources(judge_false, books), should_be_found=False)


if __name__ == "__main__":
    main()
