"""Read an answer once: its quotes and the ids in square brackets, each with offsets in the answer.

A quotation may have the quotation marks of any language. It belongs to the ids directly after it, or else to
the ids in its own sentence, the nearest first. Text after a colon that has no ids, such as list items, takes
those of the sentence with the colon.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise

from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.events import CHANGED_LABEL, UNPROVEN_LABEL, UNREAD_LABEL, QuoteState
from roamtui.sentences import CLOSERS

_SECTION = r"[0-9a-f]{8}(?::[\dc.]+)?"
_DECORATION = r"[\"'`*§#\s]*+"
_NAME = r"(?:(?:[Ii][Dd]|[Ss]ections?|[Ss]ource)[:#\s]++)?"
_NOTE = r"[,:;–—-]?\s[^\[\]\n✓✔✗✘!]{1,80}"
"""What some models add to an id, such as the title of its section."""
_IDS = rf"\[{_DECORATION}{_NAME}{_SECTION}(?>(?:[,;\"'`*§\s]++{_SECTION})*)"
MARK = re.compile(rf"{_IDS}(?:{_DECORATION}|{_NOTE})\]")
_IDS_OF_MARK = re.compile(_IDS)
MARKED_ID = re.compile(r"(?<![0-9a-f:.])[0-9a-f]{8}")
"""Ids in a mark, without page numbers and ranges."""
_CLOSED_BY_STRAIGHT = r"(?<=[\w.,;:!?…%)’])\"(?!\w|(?<=\d\")[^“”„«»\"\n]*[”»])"
"""A straight closing mark, but not the sign for inches in a quotation with typographic marks."""
_TYPOGRAPHIC = (
    # one typographic mark and one straight one
    rf"[“„«](?P<mixed>[^“”„«»\"\n]+){_CLOSED_BY_STRAIGHT}|(?<!\w)\"(?P<mixed_end>[^“”„«»\"\n]+)”(?!\w)"
    r"|“(?P<curly>[^“”]*(?:“[^“”]*”[^“”]*)*)”|„(?P<low>[^„“”]+)[“”]|«(?P<guillemets>[^«»]*(?:«[^«»]*»[^«»]*)*)»"
    r"|»(?P<reversed>[^«»]+)«|「(?P<corner>[^「」]+)」|『(?P<white_corner>[^『』]+)』|〝(?P<prime>[^〝〞〟]+)[〞〟]"
    r"|＂(?P<wide>[^＂\n]+)＂|❝(?P<heavy>[^❝❞]+)❞|‟(?P<high>[^‟”]+)”"
    r"|(?<![^\s(\[])(?:”(?P<same>[^“”\n]+)[“”]|»(?P<same_guillemets>(?=\S)[^«»\n]+)»(?!\w))"
    r"|‚(?P<low_single>[^‚‘]+)‘|‹(?P<single_guillemets>[^‹›]+)›|›(?P<single_reversed>[^‹›]+)‹"
    # an apostrophe has a letter after it, or the end of a plural before it
    r"|(?<!\w)‘(?P<single>(?:[^‘’]|’(?=\w))+)’(?!\w)"
    r"|(?<![^\s(\[])'(?P<plain_single>(?=[^\W\d_])(?:[^'\n]|(?<=\w)'(?=\w)){2,600})'(?=[\s.,;:!?)\[]|\Z)"
    r"(?!(?<=s') [a-z])"
)
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_UNSPACED = 0x0E00
"""First character of the scripts without spaces, in which a quotation mark may follow a letter."""
_STRAIGHT = re.compile(r"\"|\n[ \t]*\n")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)\1(?!`)", re.DOTALL)
_IN_QUOTE, _IN_BLOCK = 1, 2
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_BLOCK_START = r"^ {0,3}>[ \t>]*+"
_BLOCK_QUOTE = re.compile(
    rf"{_BLOCK_START}(?P<words>[^\s>][^\n]*(?:\n{_BLOCK_START}(?!(?:[-*+]|\d+[.)]) |[—–―]|--)[^\s>][^\n]*)*)",
    re.MULTILINE,
)
"""A paragraph or an item of a block quote, without the source below it."""
_BLOCK_LABEL = re.compile(r"\[!|(?:[—–―]|--)|([*_]{1,2})[^*_\n]{1,40}(?::\1|\1:)")
"""The start of an alert, of a source, or of the model's own words, as in "**Note:** It is free"."""
_CANDIDATES_MAX = 16
"""Maximum number of marks to try for a quote."""
_MARKS_AFTER_QUOTE = re.compile(
    rf"[\s.!?…。！？()*_]*+{MARK.pattern}(?>(?:[\s,;&)]*+(?:and\s++)?{MARK.pattern})*)"
)
_MARKS = re.compile(rf"{MARK.pattern}(?>(?:\s*+{MARK.pattern})*)(?P<end>\s*+[.!?]?\Z)?")
"""Marks side by side, perhaps at the end of a quote."""
_FINAL_COLON = re.compile(r":[*_ \t]*\Z")
_ITEM = re.compile(r"\s*(?:[-*+>|•]|\d+[.)])[ \t|]")
_MARKS_AFTER = rf"(?>(?:\s*+\(?{MARK.pattern}\)?)*)"
_SENTENCE_END = (
    # Never match from the middle of a row of full stops: that would scan the row once for each of them.
    rf"(?:(?<![.…])(?:(?<!\b[^\W\d_])|[.…](?=[.…]))[.…]++|(?<![!?])[!?]++)"
    rf"{CLOSERS}(?P<marks>{_MARKS_AFTER})\s++(?![\[(]?[a-zß-öø-ÿ\d])"
    rf"|[。！？]++{CLOSERS}(?P<wide_marks>{_MARKS_AFTER})\s*+"
    r"|\n[ \t]*\n|\n(?=[ \t]*(?:\||(?:[-*+#]|\d+[.)])[ \t#]))"
)
"""End of a sentence, including the marks after its full stop. A full stop after an initial does not end a
sentence, nor does one before a lower-case letter or a number, since it may belong to an abbreviation."""


_SIGN_NAMES = {"✓": "tick", "✔": "tick", "✗": "cross", "✘": "cross", "!": "exclamation mark"}
_OWN_MARK = re.compile(
    rf"\[\s*(?:→|\d{{1,3}}(?:\s*,\s*\d{{1,3}})*|{_SECTION})\s*[✓✔✗✘!]\s*\]"  # [1 ✓]
    rf"|[✓✔✗✘](?=\s*{MARK.pattern})"  # a line of sources
)
_LABELS = "|".join(
    (
        QuoteState.SAME.label,
        QuoteState.EXACT.label,
        QuoteState.ELSEWHERE.label,
        QuoteState.NOT_FOUND.label,
        CHANGED_LABEL,
    )
)
_OWN_VERDICT = re.compile(
    rf"(?<!the model says: )(?:(?<!\d)\d+/\d+ quotes? found in the text|(?<!\d )(?:{_LABELS})"
    rf"|(?<!\d)\d+ quotes?: \d+ (?:where cited|elsewhere|{CHANGED_LABEL}|{UNREAD_LABEL})|{UNPROVEN_LABEL})",
    re.IGNORECASE,
)


class CitationMark(Struct, frozen=True):
    """One id between square brackets."""

    section_id: str
    start: int
    sentence: int
    """Index of the sentence that contains the id."""


class Quotation(Struct, frozen=True):
    """Words between quotation marks or in backticks, or a paragraph of a block quote."""

    text: str
    start: int
    """Offset of the opening mark, or of a block's first word."""
    end: int
    """Offset after the closing mark, or after a block's last word."""
    is_code: bool = False
    """Whether the words are in backticks. They are a quote only if a section that their sentence names has
    them.

    Otherwise, they are a name or a command in the model's own words.
    """
    is_block: bool = False
    """Whether the words are a paragraph of a block quote, without quotation marks."""
    sentence: int = 0
    """Index of the sentence that contains the opening mark."""
    marks: Sequence[CitationMark] = ()
    """Ids that may be the source of the quote, the likeliest first."""


class AnswerReading(Struct, frozen=True, kw_only=True):
    """The quotes and the ids in square brackets of an answer, in order."""

    quotes: tuple[Quotation, ...]
    marks: tuple[CitationMark, ...]
    """Ids inside quotes cite nothing, and are left out."""


def read_ids(marks: str) -> list[str]:
    """Return the ids of some marks, without anything in their notes that looks like an id."""
    return [each for ids in _IDS_OF_MARK.findall(marks) for each in MARKED_ID.findall(ids)]


@lru_cache(maxsize=8)
def read_answer(answer: str) -> AnswerReading:
    """Find an answer's quotes and marks. Each quote gets the marks that may be its source, best first."""
    quotes = _extract_quotations(answer)
    is_quoted = bytearray(len(answer))
    for quote in quotes:
        start, end = (quote.start, quote.end) if quote.is_block else (quote.start + 1, quote.end - 1)
        is_quoted[start:end] = bytes([_IN_BLOCK if quote.is_block else _IN_QUOTE]) * (end - start)
    ends = [
        match.end()
        for match in re.finditer(_SENTENCE_END, answer)
        # a sentence ends inside a quote only before marks that follow the quote, or with a block
        if not is_quoted[match.start()]
        or ((match["marks"] or match["wide_marks"]) and not is_quoted[match.end() - 1])
        or (is_quoted[match.start()] == _IN_BLOCK and _BLANK_LINE.search(match[0]))
    ]
    marks = defaultdict[int, list[CitationMark]](list)
    for match in MARK.finditer(answer):
        if not is_quoted[match.start()]:
            sentence = bisect_right(ends, match.start())
            for section_id in read_ids(match[0]):
                marks[sentence].append(CitationMark(section_id, match.start(), sentence))
    unplaced = defaultdict[int, list[Quotation]](list)
    for quote in quotes:
        sentence = bisect_right(ends, quote.start)
        unplaced[sentence].append(replace(quote, sentence=sentence))
    placed: list[Quotation] = []
    introduction: Sequence[CitationMark] = ()  # the marks of the last sentence with a colon
    is_introduced = False  # by the sentence before
    for sentence, (start, end) in enumerate(pairwise((0, *ends, len(answer)))):
        own = marks.get(sentence, [])
        quoted = unplaced.get(sentence, ())
        introduces = _FINAL_COLON.search(answer[start:end].rstrip()) is not None
        if not (is_introduced or _ITEM.match(answer, start, end)):
            introduction = ()
        placed += _bind(answer, quoted, own or introduction)
        if introduces:
            introduction = own
        is_introduced = introduces
    return AnswerReading(quotes=tuple(placed), marks=tuple(chain.from_iterable(marks.values())))


def _bind(answer: str, quotes: Sequence[Quotation], marks: Sequence[CitationMark]) -> Iterator[Quotation]:
    """Yield a sentence's quotes with the marks that may be their source: directly after, or nearest."""
    # it names its section before it quotes
    leads = bool(quotes and marks) and marks[0].start < quotes[0].start
    chosen: Sequence[CitationMark] = ()
    position = 0
    for quote in quotes:
        following = [mark for mark in marks if mark.start >= quote.start]
        adjacent = _MARKS_AFTER_QUOTE.match(answer, quote.end)
        chosen_before = chosen
        chosen = [mark for mark in following if adjacent and mark.start < adjacent.end()]
        if not chosen:
            before = [mark for mark in reversed(marks) if position <= mark.start < quote.start]
            preceding = before or chosen_before
            chosen = preceding if leads else following or preceding
        chosen = chosen[:_CANDIDATES_MAX]
        yield replace(quote, marks=chosen)
        position = quote.end


def _extract_quotations(answer: str, *, with_blocks: bool = True) -> list[Quotation]:
    """Return the outermost quotations and code spans of an answer, in order, without id marks at their ends.

    String literals inside code do not count, nor do quotations without a letter or digit, such as a dash from
    a table.
    """
    quotations = [*_extract_straight_quotations(answer)]
    for match in re.finditer(_TYPOGRAPHIC, answer):
        text = next(group for group in match.groups() if group is not None)
        if match.lastgroup == "plain_single" and " " not in text.strip():
            continue  # a name, or letters left out of a word
        quotations.append(Quotation(text.strip(), match.start(), match.end()))
    for match in _CODE.finditer(answer):
        inside = match.group().strip("`")
        if match.group().startswith("```") and "\n" in inside:
            inside = inside.partition("\n")[2]  # below the line with its language
        quotations.append(Quotation(inside.strip(), match.start(), match.end(), is_code=True))
    if with_blocks:
        starts = sorted(quote.start for quote in quotations if not quote.is_code)
        quotations += _extract_block_quotes(answer, starts)
    kept: list[Quotation] = []
    position = 0
    for quote in sorted(quotations, key=lambda quote: (quote.start, -quote.end)):
        if quote.start < position or not _LETTER_OR_DIGIT.search(quote.text):
            continue
        position = quote.end
        before = answer[max(0, quote.start - 3) : quote.start].rstrip()
        if MARKED_ID.fullmatch(quote.text) and before.endswith(("[", ",", ";")):
            continue  # an id in quotation marks, as in the arguments of a tool call
        runs = [*_MARKS.finditer(quote.text)]
        words = quote.text[: runs[-1].start()].rstrip() if runs and runs[-1]["end"] is not None else ""
        if words:  # some models put the marks before the closing quotation mark
            quote = replace(quote, text=words, end=answer.index(words, quote.start) + len(words))  # noqa: PLW2901
        if not (quote.is_block and MARK.search(quote.text)):  # the model's own words, with their sources
            kept.append(quote)
    return kept


def _extract_block_quotes(answer: str, starts: Sequence[int]) -> Iterator[Quotation]:
    """Yield block quotes, but not those that only set off a quotation, which begins at one of `starts`."""
    for match in _BLOCK_QUOTE.finditer(answer):
        start, end = match.span("words")
        sets_off = bisect_left(starts, start) < bisect_left(starts, end)
        if not (sets_off or _BLOCK_LABEL.match(match["words"])):
            yield Quotation(match["words"].strip(), start, end, is_block=True)


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
        before = answer[position - 1 : position] if position else ""
        after = answer[position + 1 : position + 2]
        follows_letter, precedes_letter = (
            each.isalnum() and ord(each) < _UNSPACED for each in (before, after)
        )
        can_open = bool(after.strip()) and not follows_letter
        can_close = bool(before.strip()) and not precedes_letter
        if opened and (can_close or not can_open):
            start = opened.pop()
            yield Quotation(answer[start + 1 : position].strip(), start, position + 1)
        elif can_open or not can_close:
            opened.append(position)


def replace_signs(answer: str) -> str:
    """Write the forms of the program's own marks and verdicts as plain words, except in quotes.

    A model, or a document that instructs it, may write a tick. Only the program says that a quote was found.
    """
    if not (_OWN_MARK.search(answer) or _OWN_VERDICT.search(answer)):
        return answer
    parts: list[str] = []
    position = 0
    quotes = _extract_quotations(answer, with_blocks=False)
    for quote in (*quotes, Quotation("", len(answer), len(answer))):
        own_words = _OWN_MARK.sub(_spell_sign, answer[position : quote.start])
        parts += _OWN_VERDICT.sub(r"the model says: \g<0>", own_words), answer[quote.start : quote.end]
        position = quote.end
    return "".join(parts)


def _spell_sign(match: re.Match[str]) -> str:
    text = match[0].strip("[]")
    for sign, word in _SIGN_NAMES.items():
        text = text.replace(sign, word)
    return f"({text})" if match[0].startswith("[") else text
