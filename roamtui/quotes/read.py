"""Read an answer once: its quotes and the ids in square brackets, each with offsets in the answer.

A quotation may have the quotation marks of any language. It belongs to the ids directly after it, or else to the ids in
its own sentence, the nearest first. Text after a colon that has no ids, such as list items, takes those of the sentence
with the colon.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby, pairwise

from msgspec import Struct
from msgspec.structs import replace

from roamtui.document.text import Bounds

NOT_FOUND_START = "Not found:"
"""How the prompt asks a model to begin if the text has no answer."""
_NOT_FOUND_STARTS = (
    NOT_FOUND_START.lower().rstrip(":"),
    *("nicht gefunden", "non trouvé", "introuvable", "no encontrado", "no se encontró", "não encontrado"),
    *("non trovato", "未找到", "没有找到", "見つかりません"),
)
"""How answers that found nothing begin, in lower case. Some models translate the words that the prompt asks for."""
_SECTION = r"[0-9a-f]{8}(?::[\dc.]+)?"
_DECORATION = r"[\"'`*§\s]*+"
MARK = re.compile(rf"\[{_DECORATION}{_SECTION}(?:[,;\"'`*§\s]++{_SECTION})*+{_DECORATION}\]")
MARKED_ID = re.compile(r"(?<![0-9a-f:.])[0-9a-f]{8}")
"""Ids in a mark, without page numbers and ranges."""
_TYPOGRAPHIC = re.compile(
    r"“(?P<curly>[^“”]*(?:“[^“”]*”[^“”]*)*)”|„(?P<low>[^„“”]+)[“”]|«(?P<guillemets>[^«»]*(?:«[^«»]*»[^«»]*)*)»"
    r"|»(?P<reversed>[^«»]+)«|「(?P<corner>[^「」]+)」|『(?P<white_corner>[^『』]+)』|〝(?P<prime>[^〝〞〟]+)[〞〟]"
    r"|＂(?P<wide>[^＂\n]+)＂|(?<![^\s(\[])”(?P<same>[^“”\n]+)”"
)
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_UNSPACED = 0x0E00
"""First character of the scripts without spaces, in which a quotation mark may follow a letter."""
_STRAIGHT = re.compile(r"\"|\n[ \t]*\n")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)\1(?!`)", re.DOTALL)
_CANDIDATES_MAX = 16
"""Maximum number of marks to try for a quote."""
_DIRECTLY_BEFORE_MARK = re.compile(r"[\s.!?…。！？)*_]*\Z")
_BETWEEN_MARKS = re.compile(r"[\s,;&)]*(?:and\s+)?\Z")
_FINAL_COLON = re.compile(r":[*_ \t]*\Z")
_ITEM = re.compile(r"\s*(?:[-*+>|•]|\d+[.)])[ \t|]")
_MARKS_AFTER = rf"(?:\s*+{MARK.pattern})*+"
_CLOSERS = r"[\"'”’»)\]」』*_]*+"
_SENTENCE_END = re.compile(
    # Never match from the middle of a row of full stops: that would scan the row once for each of them.
    rf"(?:(?<![.…])(?:(?<!\b[^\W\d_])|[.…](?=[.…]))[.…]++|(?<![!?])[!?]++)"
    rf"{_CLOSERS}(?P<marks>{_MARKS_AFTER})\s++(?![\[(]?[a-zß-öø-ÿ\d])"
    rf"|[。！？]++{_CLOSERS}(?P<wide_marks>{_MARKS_AFTER})\s*+"
    r"|\n[ \t]*\n|\n(?=[ \t]*(?:\||(?:[-*+#]|\d+[.)])[ \t#]))"
)
"""End of a sentence, including the marks after its full stop. A full stop after an initial does not end a sentence, nor
does one before a lower-case letter or a number, since it may belong to an abbreviation."""


class CitationMark(Struct, frozen=True):
    """One id between square brackets."""

    section_id: str
    start: int
    sentence: int
    """Index of the sentence that contains the id."""


class Quotation(Struct, frozen=True):
    """Words between quotation marks."""

    text: str
    start: int
    """Offset of the opening mark."""
    end: int
    """Offset after the closing mark."""
    is_code: bool = False
    """Whether the words are in backticks. They are a quote only if a section that their sentence names has them.

    Otherwise, they are a name or a command in the model's own words.
    """
    marks: Sequence[CitationMark] = ()
    """Ids that may be the source of the quote, the likeliest first."""

    def get_mark(self, section_id: str) -> CitationMark | None:
        """Return the likeliest mark of a section, or None if no mark has its id."""
        return next((mark for mark in self.marks if mark.section_id == section_id), None)


def extract_quotations(answer: str) -> list[Quotation]:
    """Return the outermost quotations of an answer, and the code spans outside of them, in order.

    String literals inside code do not count, nor do quotations without a letter or digit, such as a dash from a table.
    """
    found = [*_extract_straight_quotations(answer)]
    for match in _TYPOGRAPHIC.finditer(answer):
        text = next(group for group in match.groups() if group is not None)
        found.append(Quotation(text.strip(), match.start(), match.end()))
    code: list[Quotation] = []
    for match in _CODE.finditer(answer):
        inside = match.group().strip("`")
        if match.group().startswith("```") and "\n" in inside:
            inside = inside.partition("\n")[2]  # below the line with its language
        code.append(Quotation(inside.strip(), match.start(), match.end(), is_code=True))
    starts = [span.start for span in code]
    quoted = []
    for quotation in _keep_outermost(found):
        around = bisect_right(starts, quotation.start) - 1
        if _LETTER_OR_DIGIT.search(quotation.text) and not (around >= 0 and quotation.end <= code[around].end):
            quoted.append(quotation)
    return _keep_outermost([*quoted, *(span for span in code if _LETTER_OR_DIGIT.search(span.text))])


def _extract_straight_quotations(answer: str) -> Iterator[Quotation]:
    """Yield quotations in straight marks, inner ones first.

    The characters next to a mark decide whether it opens or closes.
    """
    opened: list[int] = []
    for match in _STRAIGHT.finditer(answer):
        position = match.start()
        if match.group() != '"':
            opened.clear()
            continue
        before, after = answer[position - 1 : position] if position else "", answer[position + 1 : position + 2]
        is_after_letter, is_before_letter = (char.isalnum() and ord(char) < _UNSPACED for char in (before, after))
        can_open = bool(after.strip()) and not is_after_letter
        can_close = bool(before.strip()) and not is_before_letter
        if opened and (can_close or not can_open):
            start = opened.pop()
            yield Quotation(answer[start + 1 : position].strip(), start, position + 1)
        elif can_open or not can_close:
            opened.append(position)


def _keep_outermost(quotations: Iterable[Quotation]) -> list[Quotation]:
    kept: list[Quotation] = []
    for quotation in sorted(quotations, key=lambda quotation: (quotation.start, -quotation.end)):
        if not kept or quotation.start >= kept[-1].end:
            kept.append(quotation)
    return kept


def _list_quotes(answer: str) -> Iterator[Quotation]:
    """Yield the quotations, without the id marks that some models put before the closing quotation mark."""
    for quote in extract_quotations(answer):
        before = answer[max(0, quote.start - 3) : quote.start].rstrip()
        if MARKED_ID.fullmatch(quote.text) and before.endswith(("[", ",", ";")):
            continue  # an id in quotation marks, as in the arguments of a tool call
        end = len(quote.text)
        for mark in reversed([*MARK.finditer(quote.text)]):
            following = quote.text[mark.end() : end].strip()
            if following and (end < len(quote.text) or following not in (".", "!", "?")):
                break
            end = mark.start()
        words = quote.text[:end].rstrip()
        is_cut = 0 < len(words) < len(quote.text)
        yield replace(quote, text=words, end=answer.index(words, quote.start) + len(words)) if is_cut else quote


class AnswerReading(Struct, frozen=True, kw_only=True):
    """The quotes and the ids in square brackets of an answer, and the bounds of its sentences."""

    quotes: tuple[Quotation, ...]
    """In order, each with the marks that may be its source."""
    marks: tuple[CitationMark, ...]
    sentences: tuple[Bounds, ...]
    """Start and end of each sentence, list item and table row."""


@lru_cache(maxsize=8)
def read_answer(answer: str) -> AnswerReading:
    """Find the quotes and marks of an answer. Each quote gets the marks that may be its source, the likeliest first."""
    quotes = [*_list_quotes(answer)]
    starts = [quote.start for quote in quotes]

    def find_quote_around(position: int) -> Quotation | None:
        index = bisect_right(starts, position) - 1
        quote = quotes[index] if index >= 0 else None
        return quote if quote is not None and quote.start < position < quote.end - 1 else None

    ends = []
    # A sentence ends inside a quote only before marks that follow the quote.
    for match in _SENTENCE_END.finditer(answer):
        around = find_quote_around(match.start())
        if around is None or ((match["marks"] or match["wide_marks"]) and match.end() >= around.end):
            ends.append(match.end())
    by_sentence: dict[int, list[CitationMark]] = defaultdict(list)
    for match in MARK.finditer(answer):
        if find_quote_around(match.start()) is None:
            sentence = bisect_right(ends, match.start())
            by_sentence[sentence] += (
                CitationMark(marked_id[0], match.start(), sentence) for marked_id in MARKED_ID.finditer(match[0])
            )
    introductions = _map_introduced_sentences(answer, ends)
    placed: list[Quotation] = []
    for sentence, group in groupby(quotes, key=lambda quote: bisect_right(ends, quote.start)):
        own = [*group]
        marks = by_sentence.get(sentence) or by_sentence.get(introductions.get(sentence, -1), [])
        leads = bool(marks) and marks[0].start < own[0].start  # the sentence names its section before it quotes
        chosen: Sequence[CitationMark] = ()
        position = 0
        for quote in own:
            following = [mark for mark in marks if mark.start >= quote.start]
            preceding = [mark for mark in reversed(marks) if position <= mark.start < quote.start] or chosen
            nearest = preceding if leads else following or preceding
            chosen = (_take_directly_after(answer, quote.end, following) or nearest)[:_CANDIDATES_MAX]
            placed.append(replace(quote, marks=chosen))
            position = quote.end
    return AnswerReading(
        quotes=tuple(placed),
        marks=tuple(mark for own in by_sentence.values() for mark in own),
        sentences=tuple(pairwise((0, *ends, len(answer)))),
    )


def _take_directly_after(answer: str, position: int, marks: Sequence[CitationMark]) -> Sequence[CitationMark]:
    """Return the first marks that are separated from `position`, and from each other, by punctuation only."""
    separator = _DIRECTLY_BEFORE_MARK
    for index, mark in enumerate(marks):
        if mark.start >= position:  # ids of the same square brackets share their start
            if not separator.match(answer, position, mark.start):
                return marks[:index]
            bracket = MARK.match(answer, mark.start)
            position, separator = bracket.end() if bracket else mark.start, _BETWEEN_MARKS
    return marks


def _map_introduced_sentences(answer: str, ends: Sequence[int]) -> dict[int, int]:
    """Map sentences to their introductions, by index.

    A sentence that ends with a colon introduces the next sentence and the list items that follow. `ends` are the
    offsets after each sentence but the last one.
    """
    introductions: dict[int, int] = {}
    introduction: int | None = None
    for sentence, (start, end) in enumerate(pairwise((0, *ends, len(answer)))):
        if introduction is not None and (introduction == sentence - 1 or _ITEM.match(answer, start, end)):
            introductions[sentence] = introduction
        elif introduction is not None:
            introduction = None
        if _FINAL_COLON.search(answer[start:end].rstrip()):
            introduction = sentence
    return introductions


def is_not_found(answer: str) -> bool:
    """Check whether an answer says that nothing was found, in the words of the prompt or translated."""
    return answer.lstrip("*_#> ").lower().startswith(_NOT_FOUND_STARTS)
