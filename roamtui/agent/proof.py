"""What an answer proves: the verdict of each quote, the numbers of its citations, and the statements without a quote.

The screen, the terminal, the replay and the export all use it to show an answer.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from roamtui.agent.answer import is_not_found
from roamtui.agent.citations import MARK, MARKED_ID, ParsedAnswer, Quotation, QuoteChecker, parse_citations
from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.outline.spans import Bounds

_WORST_FIRST = (
    QuoteState.UNVERIFIED,
    QuoteState.MISATTRIBUTED,
    QuoteState.JOINED,
    QuoteState.NORMALISED,
    QuoteState.EXACT,
    QuoteState.NO_QUOTE,
)
_NO_CLAIM = re.compile(
    r"^[ \t>]*(?:#{1,6}[ \t].*|(?:\*\*|__)[^*_\n]+(?:\*\*|__):?[ \t]*$)"
    r"|^[ \t]*\((?:The answer is cut off here|The offline model quotes passages)[^\n]*",
    re.MULTILINE,
)
"""A heading, or a note of the program."""
_TABLE_RULE = re.compile(r"\s*\|?[ \t]*:?-+:?[ \t]*\|[\s|:-]*\Z")
"""The line below the head of a table."""
_FENCE = re.compile(r"^ {0,3}(?:`{3}|~{3})", re.MULTILINE)
_LEAD = re.compile(r"[\s>|]*(?:(?:[-*+•]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)?[\s>|]*")
"""Markup before the words of a list item, a quoted line or a table row."""
_GREETING = re.compile(
    r"\W*(?:hello|hi|hey|thanks?|thank you|sure|of course|certainly|you(?:'|’)re welcome|great question|i hope)\b",
    re.IGNORECASE,
)
_GREETING_WORDS_MAX = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenQuote:
    """A quote of an answer with its verdict."""

    start: int
    """Offset of the opening quotation mark."""
    end: int
    state: QuoteState
    number: int | None
    """Number of the quote's citation, counted from 1; None as long as its id has not arrived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenMark:
    """An id between square brackets, as a person sees it."""

    start: int
    """Offset of the opening bracket. The ids of one pair of brackets share it."""
    end: int
    section_id: str
    numbers: tuple[int, ...]
    """Numbers of the citations that the mark belongs to; empty if it is not a citation, as below "not found"."""
    state: QuoteState
    """The worst verdict among the quotes of the mark; `NO_QUOTE` if it has no quotes."""

    @property
    def label(self) -> str:
        """The numbers and the sign between square brackets, such as ``[2 ✓]``."""
        numbers = ",".join(map(str, self.numbers)) or "→"
        return f"[{numbers} {self.state.sign}]" if self.state.sign else f"[{numbers}]"


@dataclass(frozen=True, kw_only=True)
class AnswerProof:
    """The verdicts of an answer. All offsets are in its text."""

    answer: str = field(repr=False)
    parsed: ParsedAnswer = field(repr=False)
    quotes: tuple[ProvenQuote, ...]
    """In order."""
    marks: tuple[ProvenMark, ...]
    """In order."""

    # Computed when they are first needed, because an answer that streams in is proven again and again without them.
    @cached_property
    def statements(self) -> tuple[Bounds, ...]:
        """Start and end of each statement: a sentence, a list item or a table row that claims something."""
        return tuple(bounds for bounds, _ in self._quoted_statements)

    @cached_property
    def unquoted(self) -> tuple[Bounds, ...]:
        """The statements without a quote."""
        cited = {quote.start for quote in self.quotes}
        return tuple(bounds for bounds, own in self._quoted_statements if cited.isdisjoint(q.start for q in own))

    @cached_property
    def _quoted_statements(self) -> Sequence[tuple[Bounds, Sequence[Quotation]]]:
        return () if is_not_found(self.answer) else [*_list_statements(self.answer, self.parsed)]

    @property
    def summary(self) -> str:
        """A sentence such as "5 of 6 statements are quoted"; empty if there are no statements."""
        count = len(self.statements)
        if not count:
            return ""
        are = "statement is" if count == 1 else "statements are"
        return f"{count - len(self.unquoted)} of {count} {are} quoted"


def read_proof(answer: str, citations: Sequence[Citation]) -> AnswerProof:
    """Read the verdicts of a finished answer.

    Args:
        answer: The text, as the model wrote it.
        citations: The result of `verify_citations` for this answer. It may come from an old log, because no quote is
            looked up again.
    """
    return _bind(answer, parse_citations(answer), citations)


class ProofReader:
    """Reads the verdicts of an answer while it streams in."""

    def __init__(self, checker: QuoteChecker) -> None:
        self._checker = checker

    def read(self, answer: str) -> AnswerProof:
        """Read the verdicts of what has arrived so far.

        A quote whose sentence has not ended is looked up in all text that the model got, since its id may still arrive.
        """
        parsed = parse_citations(answer)
        proof = _bind(answer, parsed, self._checker.cite(parsed))
        open_from = parsed.sentences[-1][0]
        bound = {quote.start for quote in proof.quotes}
        early = [
            ProvenQuote(start=quote.start, end=quote.end, state=self._checker.find_anywhere(quote.text), number=None)
            for quote in parsed.quotes
            if quote.start >= open_from and quote.start not in bound and not quote.is_code and not quote.marks
        ]
        return replace(proof, quotes=tuple(sorted((*proof.quotes, *early), key=lambda quote: quote.start)))


def _bind(answer: str, parsed: ParsedAnswer, citations: Sequence[Citation]) -> AnswerProof:
    """Match each citation to its quote and its marks in the answer.

    Citations and quotes are both in the order of the answer.
    """
    numbered = [(number, citation) for number, citation in enumerate(citations, start=1)]
    waiting = [pair for pair in numbered if pair[1].quote is not None]
    quotes: list[ProvenQuote] = []
    sentence_starts = [start for start, _ in parsed.sentences]
    by_mark: dict[tuple[str, int], list[tuple[int, QuoteState]]] = defaultdict(list)
    by_sentence: dict[tuple[str, int], list[tuple[int, QuoteState]]] = defaultdict(list)
    for quote in parsed.quotes:
        if not waiting or waiting[0][1].quote != quote.text:
            continue
        number, citation = waiting.pop(0)
        quotes.append(ProvenQuote(start=quote.start, end=quote.end, state=citation.state, number=number))
        mark = next((mark for mark in quote.marks if mark.section_id == citation.section_id), None)
        sentence = mark.sentence if mark else bisect_right(sentence_starts, quote.start) - 1
        by_sentence[citation.section_id, sentence].append((number, citation.state))
        if mark is not None:
            by_mark[mark.section_id, mark.start].append((number, citation.state))
    without = [pair for pair in numbered if pair[1].quote is None]
    for mark in parsed.marks:
        key = mark.section_id, mark.sentence
        if key not in by_sentence and without and without[0][1].section_id == mark.section_id:
            number, citation = without.pop(0)
            by_sentence[key] = [(number, citation.state)]
    marks = []
    for match in MARK.finditer(answer):
        sentence = bisect_right(sentence_starts, match.start()) - 1
        for section_id in dict.fromkeys(MARKED_ID.findall(match.group())):
            own = by_mark.get((section_id, match.start())) or by_sentence.get((section_id, sentence), [])
            marks.append(
                ProvenMark(
                    start=match.start(),
                    end=match.end(),
                    section_id=section_id,
                    numbers=tuple(number for number, _ in own),
                    state=min((state for _, state in own), key=_WORST_FIRST.index, default=QuoteState.NO_QUOTE),
                )
            )
    return AnswerProof(answer=answer, parsed=parsed, quotes=tuple(quotes), marks=tuple(marks))


def _list_statements(answer: str, parsed: ParsedAnswer) -> Iterator[tuple[Bounds, Sequence[Quotation]]]:
    """Yield the bounds of each statement with its quotes.

    A sentence that is only a quote, or code, belongs to the statement before it.
    """
    pending: tuple[Bounds, list[Quotation]] | None = None
    no_claims = [match.span() for match in _NO_CLAIM.finditer(answer)]
    texts = [answer[start:end] for start, end in parsed.sentences]
    quote_starts = [quote.start for quote in parsed.quotes]
    for (start, end), following in zip(parsed.sentences, [*texts[1:], ""], strict=True):
        first_index = bisect_left(quote_starts, start)
        own = parsed.quotes[first_index : bisect_left(quote_starts, end)]
        around = first_index > 0 and parsed.quotes[first_index - 1].end > start  # quotes do not overlap
        first = _LEAD.match(answer, start, end)
        assert first is not None  # it matches nothing too
        bounds = first.end(), start + len(answer[start:end].rstrip(" \t\n|"))
        nearest = bisect_right(no_claims, bounds[0], key=lambda bounds: bounds[0]) - 1
        is_no_claim = nearest >= 0 and bounds[0] < no_claims[nearest][1]
        if not (around or is_no_claim or _TABLE_RULE.match(following)) and _is_claim(answer[start:end], start, own):
            if pending is not None:
                yield pending
            pending = bounds, [*own]
        elif pending is not None:
            pending[1].extend(own)
    if pending is not None:
        yield pending


def _is_claim(text: str, start: int, quotes: Sequence[Quotation]) -> bool:
    """Return whether a sentence says something by itself. `start` is its offset, as in the offsets of its quotes."""
    words = MARK.sub(" ", text).strip()
    is_introduction = words.rstrip("*_").endswith((":", "：")) and not quotes
    if (
        not any(character.isalpha() for character in words)
        or is_introduction
        or words.rstrip("*_").endswith(("?", "？"))
    ):
        return False
    if (
        _FENCE.search(words)
        or is_not_found(words)
        or (_GREETING.match(words) and len(words.split()) <= _GREETING_WORDS_MAX)
    ):
        return False
    rest = text
    for quote in reversed(quotes):
        rest = rest[: max(0, quote.start - start)] + rest[quote.end - start :]
    return any(character.isalnum() for character in re.sub(r"^\s*\d+[.)]", "", MARK.sub(" ", rest)))
