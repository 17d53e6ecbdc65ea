"""Read an answer once: its quotes, the marks that each quote belongs to, and their offsets in the answer.

A quotation belongs to the marks directly after it, or else to the marks in its own sentence, the nearest
first. After a colon, text without marks, such as list items, takes those of the sentence with the colon.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from html import unescape
from itertools import chain, pairwise

from msgspec import Struct
from msgspec.structs import replace

from roamtui.markdown.units import list_units
from roamtui.markdown.visible import VisiblePiece, VisibleText
from roamtui.outline.ids import WORD, IdMark
from roamtui.quotes.quotation_marks import list_quoted
from roamtui.sentences import FILLER, iter_sentence_ends
from roamtui.text import INVISIBLE, Bounds, blank_matches, replace_ranges

_LINK = "\ufdd1"
"""Replaces each character of a link that is a mark, as `FILLER` does for other marks. No text needs this
noncharacter."""
_ANY_MARK = rf"[{FILLER}{_LINK}]++"
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_BLOCK_START = r"^ {0,3}>[ \t>]*+"
_BLOCK_MARKER = r"(?:(?:[-*+]|#{1,6})[ \t]+)?"
_BLOCK_QUOTE = re.compile(
    rf"{_BLOCK_START}{_BLOCK_MARKER}"
    rf"(?P<words>[^\s>][^\n]*(?:\n{_BLOCK_START}(?!(?:[-*+]|\d+[.)]) |[—–―]|--)[^\s>][^\n]*)*)",
    re.MULTILINE,
)
"""A paragraph, item or heading of a block quote, without its marker, and without the source below it."""
_BLOCK_LABEL = re.compile(r"\[!|(?:[—–―]|--)|([*_]{1,2})[^*_\n]{1,40}(?::\1|\1:)")
"""The start of an alert, of a source, or of the model's own words, as in "**Note:** It is free"."""
WORDS_MIN = 3
"""Fewer words between quotation marks are a name, or words that the writer does not mean literally."""
_CANDIDATES_MAX = 16
"""Maximum number of marks to try for a quote."""
_MARKS_AFTER_QUOTE = re.compile(
    rf"[\s.!?…。！？()*_]*+{_ANY_MARK}(?>(?:[\s,;&)]*+(?:\w{{1,3}}\s)?\s*+{_ANY_MARK})*)"
)
"""Marks directly after a quote. A short word, such as "and", may be between them."""
_FINAL_MARKS = re.compile(rf"(?>(?:{FILLER}++\s*+)+)[.!?]?\s*\Z")
"""Marks at the end of a quote."""
_BLANK_END = re.compile(r"(?:\n[ \t>]*)*\Z")
"""Blank lines at the end of a block quote."""
_FINAL_COLON = re.compile(r":[*_ \t]*\Z")
_ITEM = re.compile(r"\s*(?:[-*+>|•]|\d+[.)])[ \t|]")
_BLOCK_END = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:\||(?:[-*+#]|\d+[.)])[ \t#]))")
"""A blank line, or the start of an item, row or heading."""
_BLANK_QUOTE_LINE = re.compile(r"\n[ \t]*>[ \t>]*+(?=\n)")
_ABOVE_MARKS = re.compile(rf"\n[ \t]*\n(?=.*{FILLER})(?=[^\w\n]*(?:\n|\Z))")
"""The blank line above a line that has only ids: they are the source of the words above."""
_IN_PARENTHESES = re.compile(rf"\({FILLER}++\)")
_FINAL_STOPS = re.compile(r"[^\w\s]*\Z")
_SIGNS = "✓✔✗✘!"
_NAMES = {"✓": "tick", "✔": "tick", "✗": "cross", "✘": "cross", "!": "exclamation mark", "[": "(", "]": ")"}
_BLANK = rf"[\s{INVISIBLE}]"
_OWN_MARK = re.compile(
    rf"\[{_BLANK}*(?:→|\d{{1,3}}(?:\s*,\s*\d{{1,3}})*|{WORD})(?:{_BLANK}*[✓✔✗✘]|{_BLANK}!){_BLANK}*\]"
    rf"|[✓✔✗✘](?={_BLANK}*\[{WORD}\])"  # a line of sources
)


class CitedId(Struct, frozen=True):
    """One id in a mark."""

    section_id: str
    start: int
    """Offset of the mark."""
    sentence: int
    """Index of the sentence that contains the mark."""


class Quotation(Struct, frozen=True):
    """Words between quotation marks or in backticks, or a paragraph of a block quote."""

    text: str
    start: int
    """Offset of the opening quotation mark, or of a block's first word."""
    end: int
    """Offset after the closing quotation mark, or after a block's last word."""
    is_loose_code: bool = False
    """Whether the words are in backticks, without an id directly after them. They are a quote only if a
    section that their sentence names contains them. Otherwise, they may be the model's own words.
    """
    is_block: bool = False
    """Whether the words are a paragraph of a block quote, without quotation marks."""
    sentence: int = 0
    """Index of the sentence that contains the opening quotation mark."""
    context: str = ""
    """The text of its sentence, which tells which of several places is meant."""
    marks: Sequence[CitedId] = ()
    """Ids that may be the source of the quote, the likeliest first."""


class ParsedAnswer(Struct, frozen=True, kw_only=True):
    """The quotes and the marks of an answer, in order."""

    quotes: tuple[Quotation, ...]
    marks: tuple[CitedId, ...]
    """Marks inside quotes cite nothing, and are left out."""


@lru_cache(maxsize=8)
def read_answer(answer: str, marks: tuple[IdMark, ...] = ()) -> ParsedAnswer:
    """Find an answer's quotes. Each gets those of the `marks` that may be its source, likeliest first."""
    masked = _mask(answer, marks)
    quotes = _extract_quotations(answer, masked)
    ends = _list_sentence_ends(masked, quotes)
    starts = [quote.start for quote in quotes]
    marks_by_sentence = defaultdict[int, list[CitedId]](list)
    for mark in marks:
        before = bisect_right(starts, mark.start) - 1
        if before < 0 or mark.start >= quotes[before].end:
            sentence = bisect_right(ends, mark.start)
            for section_id in mark.section_ids:
                marks_by_sentence[sentence].append(CitedId(section_id, mark.start, sentence))
    quotes_by_sentence = defaultdict[int, list[Quotation]](list)
    for quote in quotes:
        sentence = bisect_right(ends, quote.start)
        quotes_by_sentence[sentence].append(replace(quote, sentence=sentence))
    placed: list[Quotation] = []
    introduction: Sequence[CitedId] = ()  # the marks of the last sentence with a colon
    is_introduced = False  # by the sentence before
    for sentence, (start, end) in enumerate(pairwise((0, *ends, len(answer)))):
        own = marks_by_sentence.get(sentence, [])
        if not (is_introduced or _ITEM.match(masked, start, end)):
            introduction = ()
        bound = _bind(masked, quotes_by_sentence.get(sentence, ()), own or introduction)
        placed += (replace(quote, context=answer[start:end]) for quote in bound)
        is_introduced = _FINAL_COLON.search(masked[start:end].rstrip()) is not None
        if is_introduced:
            introduction = own
    cited = tuple(chain.from_iterable(marks_by_sentence.values()))
    return ParsedAnswer(quotes=tuple(placed), marks=cited)


def _list_sentence_ends(masked: str, quotes: Sequence[Quotation]) -> list[int]:
    """List where the sentences of an answer end. A quote belongs to the sentence in which it begins.

    A sentence may end inside a quote only before marks that follow the quote. The paragraphs of a block quote
    are one sentence, because its source is below the last paragraph.
    """
    hidden: list[tuple[int, int, str]] = []
    for quote in quotes:
        end = quote.end
        if _MARKS_AFTER_QUOTE.match(masked, end) is not None:
            final = _FINAL_STOPS.search(masked, quote.start, end)
            end = quote.end if final is None else final.start()
        letter = _LETTER_OR_DIGIT.search(masked, quote.start, quote.end)
        sign = "x" if letter is not None and letter[0].islower() else "X"
        hidden.append((quote.start, end, sign * (end - quote.start)))
    text = blank_matches(_ABOVE_MARKS, replace_ranges(masked, hidden))
    text = text.replace(_LINK, FILLER)
    text = _IN_PARENTHESES.sub(lambda match: FILLER * len(match[0]), text)
    text = _BLANK_QUOTE_LINE.sub(lambda match: ">" * len(match[0]), text)
    ends: list[int] = []
    start = 0
    for block in [*_BLOCK_END.finditer(text), None]:
        piece = text[start:] if block is None else text[start : block.start()]
        ends += (start + end for end in iter_sentence_ends(piece))
        if block is not None:
            start = block.end()
            ends.append(start)
    return ends


def _mask(answer: str, marks: Iterable[IdMark]) -> str:
    """Return an answer of the same length, with `FILLER` or `_LINK` for each character of a mark."""
    answer = answer.replace(FILLER, " ").replace(_LINK, " ")
    signs = ((mark, _LINK if mark.is_link else FILLER) for mark in marks)
    hidden = ((mark.start, mark.end, sign * (mark.end - mark.start)) for mark, sign in signs)
    return replace_ranges(answer, hidden)


def _bind(masked: str, quotes: Sequence[Quotation], marks: Sequence[CitedId]) -> Iterator[Quotation]:
    """Yield the quotes of a sentence with their marks: those directly after the quote, if there are any.

    Otherwise, if the sentence names a section before its first quote, they are the marks between this quote
    and the one before it, nearest first, or else the marks of the one before it. In other sentences, marks
    anywhere after the quote come first.
    """
    names_section_first = bool(quotes and marks) and marks[0].start < quotes[0].start
    starts = [mark.start for mark in marks]
    chosen: Sequence[CitedId] = ()
    end_before = 0
    for quote in quotes:
        index = bisect_left(starts, quote.start)
        first = max(bisect_left(starts, end_before), index - _CANDIDATES_MAX)
        preceding = marks[first:index][::-1] or chosen
        following = marks[index : index + _CANDIDATES_MAX]
        match = _MARKS_AFTER_QUOTE.match(masked, quote.end)
        adjacent = [mark for mark in following if match is not None and mark.start < match.end()]
        chosen = adjacent or (preceding if names_section_first else following or preceding)
        names_id = any(masked[mark.start] == FILLER for mark in adjacent)
        yield replace(quote, marks=chosen, is_loose_code=quote.is_loose_code and not names_id)
        end_before = quote.end


def _extract_quotations(answer: str, masked: str, *, with_blocks: bool = True) -> list[Quotation]:
    """Return the outermost quotations and code spans of an answer, in order, without marks at their ends.

    String literals inside code do not count, nor do quotations without a letter or digit, such as a dash from
    a table.
    """
    quotations: list[Quotation] = []
    for start, end, is_code in list_quoted(masked):
        if is_code:
            inside = answer[start:end].strip("`")
            if masked.startswith("```", start) and "\n" in inside:
                inside = inside.partition("\n")[2]  # below the line with its language
            if words := inside.strip():
                quotations.append(Quotation(words, start, end, is_loose_code=True))
        else:
            last = _find_last_word(masked, start + 1, end - 1)
            words = answer[start + 1 : last].strip()
            quotations.append(Quotation(words, start, end if last == end - 1 else last))
    if with_blocks:
        starts = {quote.start for quote in quotations if not quote.is_loose_code}
        quotations += _extract_block_quotes(answer, masked, starts)
    kept: list[Quotation] = []
    position = 0
    for quote in sorted(quotations, key=lambda quote: (quote.start, -quote.end)):
        if quote.start >= position and _LETTER_OR_DIGIT.search(masked, quote.start, quote.end):
            position = quote.end
            kept.append(quote)
    return kept


def _find_last_word(masked: str, start: int, end: int) -> int:
    """Return the end of a quote's words, after which some models put ids inside the quotation marks."""
    final = _FINAL_MARKS.search(masked, start, end)
    return end if final is None else start + len(_BLANK_END.sub("", masked[start : final.start()]).rstrip())


def _extract_block_quotes(answer: str, masked: str, starts: Container[int]) -> Iterator[Quotation]:
    """Yield block quotes, but not those that only set off a quotation, which begins at one of `starts`.

    A block with a mark before its end has the model's own words, with their sources.
    """
    for match in _BLOCK_QUOTE.finditer(masked):
        start, end = match.span("words")
        last = _find_last_word(masked, start, end)
        words = match["words"]
        sets_off = start + len(words) - len(words.lstrip("*_ ")) in starts
        if not (sets_off or _BLOCK_LABEL.match(words) or FILLER in masked[start:last]):
            yield Quotation(answer[start:last].strip(), start, last, is_block=True)


def replace_verdict_marks(answer: str) -> str:
    """Replace verdict marks that a model wrote, such as [1 ✓], with plain words, except in quotes.

    A model, or a document that instructs it, may write a tick. Only the program says that a quote was found.
    """
    if not any(map(unescape(answer).__contains__, _SIGNS)):
        return answer
    from roamtui.markdown.parser import parse_answer  # noqa: PLC0415

    quotes = [
        quote for quote in _extract_quotations(answer, answer, with_blocks=False) if not quote.is_loose_code
    ]
    quoted = [(quote.start, quote.end) for quote in quotes]
    units = list_units(answer, parse_answer(answer))
    names: dict[Bounds, str] = {}
    for visible in (VisibleText((VisiblePiece(answer, 0, len(answer)),)), *(unit.whole for unit in units)):
        own = defaultdict[Bounds, str](str)
        for offset in chain.from_iterable(range(*match.span()) for match in _OWN_MARK.finditer(visible.text)):
            [piece] = visible.iter_pieces(offset, offset + 1)
            if not any(start <= piece.start < end for start, end in quoted):
                own[piece.start, piece.end] += _NAMES.get(piece.text, piece.text)
        names |= own
    ordered = ((start, end, name) for (start, end), name in sorted(names.items()) if start < end)
    return replace_ranges(answer, ordered)
