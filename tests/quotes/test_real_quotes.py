"""Quotes from real documents: exact text is found, but not parts of numbers, nor pieces of two sentences."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from roamtui.quotes.find import find_quote
from roamtui.search.units import Unit, UnitKind, find_sentence_end, split_sentences
from roamtui.sources.convert.pdf.convert import convert_pdf
from tests.real_documents import find_data_dir, list_documents, read_document

_FILINGS = (
    "financebench/pdfs/AMCOR_2023Q4_EARNINGS.pdf",
    "financebench/pdfs/FOOTLOCKER_2022_8K_dated_2022-08-19.pdf",
    "financebench/pdfs/JOHNSON_JOHNSON_2022Q4_EARNINGS.pdf",
)
_OTHERS = {"contract": "sets/cuad-contracts/docs/*.md", "docs": "sets/*-docs/docs/**/*.md", "book": "books/*.md"}
_SETS = ("cuad-contracts", "dstc10-followups", "dstc11-followups", "vespa-docs")
_DOCUMENTS_OF_A_KIND = 12
_LENGTH = 30_000
"""Characters of a document, about as many as one delivery has."""
_QUOTES_OF_A_DOCUMENT = 12
_NUMBER = re.compile(r"(?:(?<![\w%)\]°$€£+*`~−-])[-+−])?\d+(?:[.,'’\u00a0\u2009\u202f]\d+)*(?:[ \u00a0]?%(?!\w))?")
_ELLIPSIS = re.compile(r"…|\.{3}")
_LINE_BREAK = re.compile(r"\s*\n[ \t>]*")
_WORD = re.compile(r"\S+")

needs_documents = pytest.mark.skipif(len(list_documents(*_FILINGS)) < len(_FILINGS), reason="no real documents")


@lru_cache(maxsize=1)
def _read_texts() -> list[tuple[str, str]]:
    """Read the starts of filings (converted from PDF), contracts and documentation, each with its kind."""
    found = [("filing", convert_pdf((find_data_dir() / name).read_bytes(), name).text) for name in _FILINGS]
    for kind, pattern in _OTHERS.items():
        names = list_documents(pattern)
        found += [(kind, read_document(name)) for name in names[:: len(names) // _DOCUMENTS_OF_A_KIND + 1]]
    return [(kind, text[: text.rfind("\n", 0, _LENGTH) + 1] if len(text) > _LENGTH else text) for kind, text in found]


def _draw_text(data: st.DataObject) -> str:
    return data.draw(st.sampled_from(_read_texts()))[1]


@needs_documents
@given(st.data())
def test_parts_of_numbers_are_not_found(data: st.DataObject) -> None:
    text = _draw_text(data)
    numbers = [number for number in _NUMBER.finditer(text) if len(number.group()) > 1]
    assume(numbers)
    number = data.draw(st.sampled_from(numbers))
    cut = data.draw(st.integers(number.start() + 1, number.end() - 1))
    start, end = text.rfind(" ", 0, max(0, number.start() - 60)) + 1, text.find(" ", number.end() + 60)
    around = text[start : end if end > 0 else len(text)]
    before, after = around[: cut - start].strip(), around[cut - start :].strip()
    if cut - number.start() > 1 or text[number.start()].isdigit():  # else the sign, which reads as a dash there
        assert find_quote(before, around) is None
    assert find_quote(after, around) is None


@needs_documents
@given(st.data())
def test_pieces_of_two_sentences_are_not_found(data: st.DataObject) -> None:
    text = _draw_text(data)
    sentences = split_sentences(text)
    assume(len(sentences) > 1)
    index = data.draw(st.integers(0, len(sentences) - 2))
    pair = sentences[index : index + 2]
    assume(len({find_sentence_end(text, one.start) for one in pair}) == len(pair))  # parts of a long one are no pair
    pieces = [_draw_words(data, text, one) for one in pair]
    for piece in pieces:
        assume(not _ELLIPSIS.search(piece))
        assume(text.count(piece) == 1)
    assume(re.search(r"\w", text[text.index(pieces[0]) + len(pieces[0]) : text.index(pieces[1])]))  # words left out
    quote = data.draw(st.sampled_from([" … ", " […] ", " ... ", "… "])).join(pieces)
    assert find_quote(quote, text) is None


def _draw_words(data: st.DataObject, text: str, unit: Unit) -> str:
    words = [*_WORD.finditer(text, unit.start, unit.end)]
    start = data.draw(st.integers(0, max(0, len(words) - 3)))
    end = data.draw(st.integers(min(start + 2, len(words) - 1), len(words) - 1))
    return text[words[start].start() : words[end].end()]


def _list_variants(quote: str, kind: UnitKind) -> Iterator[str]:
    """Yield a quote as models write it: on one line, with other typography, a row without borders."""
    yield quote
    if kind is UnitKind.CODE or _ELLIPSIS.search(quote):
        return
    line = _LINE_BREAK.sub(" ", quote)
    yield line
    yield line.translate(str.maketrans("’‘“”–", "''\"\"-"))
    yield line.replace("'", "’").replace("-", "\u2011").replace(" ", "\u00a0", 1)
    if kind in (UnitKind.ROW, UnitKind.TABLE_HEAD) and "`" not in quote:
        cells = [cell.strip() for cell in quote.strip("|").split("|") if cell.strip()]
        yield " | ".join(cells)
        if not re.search(r"\d [%‰°]", " ".join(cells)):  # which reads as one number
            yield " ".join(cells)


@needs_documents
def test_true_quotes_are_found() -> None:
    """Models quote sentences, rows, cells and phrases, and people marked answers.

    Of the quotes with an ellipsis, some leave out a word that turns the meaning.
    """
    told: Counter[str] = Counter()
    lost: list[tuple[str, str]] = []
    for kind, text, quote in _list_true_quotes():
        told[kind] += 1
        if find_quote(quote, text) is None:
            lost.append((kind, quote))
    assert [(kind, quote) for kind, quote in lost if kind != "ellipsis"] == []
    assert len(lost) <= 0.1 * told["ellipsis"]
    assert {"filing", "contract", "docs", "answer", "ellipsis"} <= told.keys()
    assert min(told.values()) >= 80


def _list_true_quotes() -> Iterator[tuple[str, str, str]]:
    """Yield kind, text and quote."""
    for kind, text in _read_texts():
        units = [unit for unit in split_sentences(text) if unit.end - unit.start > 12]
        for unit in units[:: len(units) // _QUOTES_OF_A_DOCUMENT + 1]:
            quote = text[unit.start : unit.end]
            for variant in _list_variants(quote, unit.kind):
                yield kind, text, variant
            words = quote.split()
            is_plain = unit.kind in (UnitKind.PROSE, UnitKind.ITEM) and not re.search(r"…|\.{3}|\n *>", quote)
            if is_plain and len(words) > 12 and all(words[index].isalpha() for index in (2, 4, 8, -4)):
                yield kind, text, " ".join(words[2:9])
                yield "ellipsis", text, f"{' '.join(words[:5])} … {' '.join(words[-4:])}"
    for name in _SETS:
        lines = (find_data_dir() / "sets" / name / "questions.jsonl").read_text("utf-8").splitlines()
        for line in lines[:: len(lines) // 40 + 1]:
            row = json.loads(line)
            text = read_document(f"sets/{name}/docs/{row['doc']}")
            section = text.split("\n", row["gold_line"] - 1)[-1]
            yield "answer", section[:_LENGTH], row["gold_text"]
