"""What an answer proves: the verdict of each quote, the numbers of its citations, and the statements without a quote.

The screen, the terminal, the replay and the export all use it to show an answer.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter

from roamtui.agent.answer import is_not_found
from roamtui.agent.citations import MARK, MARKED_ID, ParsedAnswer, Quotation, QuoteChecker, parse_citations
from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.outline.spans import Bounds

_FROM_WORST_TO_BEST = (
    QuoteState.NOT_FOUND,
    QuoteState.ELSEWHERE,
    QuoteState.FOUND,
    QuoteState.NO_QUOTE,
)
"""`NO_QUOTE` is last, because it counts only if a mark has nothing else."""
_NO_CLAIM = re.compile(
    r"^[ \t>]*(?:#{1,6}[ \t].*|(?:\*\*|__)[^*_\n]+(?:\*\*|__):?[ \t]*$)"
    r"|^[ \t]*\((?:The answer is cut off here|The offline model quotes passages)[^\n]*",
    re.MULTILINE,
)
"""A heading, or a note by the program. Only its first words are matched, because the rest differs in old logs."""
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
class JudgedQuote:
    """A quote of an answer with its verdict."""

    start: int
    """Offset of the opening quotation mark."""
    end: int
    verdict: QuoteState
    number: int | None
    """Number of the quote's citation, counted from 1; None until its id has arrived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedMark:
    """An id between square brackets, as a person sees it."""

    start: int
    """Offset of the opening bracket. The ids of one pair of brackets share it."""
    end: int
    section_id: str
    numbers: tuple[int, ...]
    """Numbers of the citations that the mark belongs to; empty if it is not a citation, as in a "not found" answer."""
    verdict: QuoteState
    """The worst verdict among the quotes of the mark; `NO_QUOTE` if it has no quotes."""

    @property
    def label(self) -> str:
        """The numbers and the sign between square brackets, such as ``[2 ✓]``."""
        numbers = ",".join(map(str, self.numbers)) or "→"
        return f"[{numbers} {self.verdict.sign}]" if self.verdict.sign else f"[{numbers}]"


@dataclass(frozen=True, kw_only=True)
class AnswerProof:
    """The verdicts of an answer. All offsets are in its text."""

    answer: str = field(repr=False)
    parsed: ParsedAnswer = field(repr=False)
    quotes: tuple[JudgedQuote, ...]
    """In order."""
    marks: tuple[JudgedMark, ...]
    """In order."""

    # Computed when they are first needed, because an answer that streams in is judged again and again without them.
    @cached_property
    def statements(self) -> tuple[Bounds, ...]:
        """Start and end of each statement: a sentence, a list item or a table row that claims something."""
        return tuple(bounds for bounds, _ in self._quoted_statements)

    @cached_property
    def unquoted(self) -> tuple[Bounds, ...]:
        """The statements without a quote."""
        cited_starts = {quote.start for quote in self.quotes}
        return tuple(
            bounds
            for bounds, quotes in self._quoted_statements
            if cited_starts.isdisjoint(quote.start for quote in quotes)
        )

    @cached_property
    def _quoted_statements(self) -> Sequence[tuple[Bounds, Sequence[Quotation]]]:
        return () if is_not_found(self.answer) else [*_list_statements(self.answer, self.parsed)]

    @property
    def summary(self) -> str:
        """A sentence such as "5 of 6 statements are quoted"; empty if there are no statements."""
        count = len(self.statements)
        if not count:
            return ""
        noun_and_verb = "statement is" if count == 1 else "statements are"
        return f"{count - len(self.unquoted)} of {count} {noun_and_verb} quoted"


def match_citations(answer: str, citations: Sequence[Citation]) -> AnswerProof:
    """Match the citations of a finished answer to its quotes and marks. Verdicts are taken from the citations.

    Args:
        answer: The text, as the model wrote it.
        citations: The result of `verify_citations` for this answer. It may come from an old log, because no quote is
            looked up again.
    """
    return _match_parsed(answer, parse_citations(answer), citations)


class StreamingJudge:
    """Judges the quotes of an answer while it streams in."""

    def __init__(self, checker: QuoteChecker) -> None:
        self._checker = checker

    def judge(self, answer: str) -> AnswerProof:
        """Judge the answer so far by the text that the model got.

        In the last, unfinished sentence, the id may still follow its quote. Until then, the quote is looked up in all
        sections.
        """
        parsed = parse_citations(answer)
        proof = _match_parsed(answer, parsed, self._checker.cite(parsed))
        last_sentence_start = parsed.sentences[-1][0]
        cited_starts = {quote.start for quote in proof.quotes}
        without_id = [
            JudgedQuote(start=quote.start, end=quote.end, verdict=self._checker.judge_anywhere(quote.text), number=None)
            for quote in parsed.quotes
            if quote.start >= last_sentence_start
            and quote.start not in cited_starts
            and not quote.is_code
            and not quote.marks
        ]
        return replace(proof, quotes=tuple(sorted((*proof.quotes, *without_id), key=lambda quote: quote.start)))


def _match_parsed(answer: str, parsed: ParsedAnswer, citations: Sequence[Citation]) -> AnswerProof:
    """Match each citation to its quote and its marks. Citations and quotes are in the order of the answer."""
    numbered = [*enumerate(citations, start=1)]
    quoted_citations = deque((number, citation) for number, citation in numbered if citation.quote is not None)
    unquoted_citations = deque((number, citation) for number, citation in numbered if citation.quote is None)
    quotes: list[JudgedQuote] = []
    sentence_starts = [start for start, _ in parsed.sentences]
    by_mark: dict[tuple[str, int], list[tuple[int, QuoteState]]] = defaultdict(list)
    """Numbers and verdicts of citations by section and offset of the mark."""
    by_sentence: dict[tuple[str, int], list[tuple[int, QuoteState]]] = defaultdict(list)
    """Numbers and verdicts of citations by section and index of the sentence."""
    # A quote belongs to the next citation if its words are the same. If they are not, nothing cites this quote.
    for quote in parsed.quotes:
        if not quoted_citations or not _may_cite(quoted_citations[0][1], quote):
            continue
        number, citation = quoted_citations.popleft()
        quotes.append(JudgedQuote(start=quote.start, end=quote.end, verdict=citation.state, number=number))
        mark = next((mark for mark in quote.marks if mark.section_id == citation.section_id), None)
        sentence = mark.sentence if mark else bisect_right(sentence_starts, quote.start) - 1
        by_sentence[citation.section_id, sentence].append((number, citation.state))
        if mark is not None:
            by_mark[mark.section_id, mark.start].append((number, citation.state))
    # A mark in a sentence without a quote from its section belongs to the next citation without a quote.
    for mark in parsed.marks:
        key = mark.section_id, mark.sentence
        if key not in by_sentence and unquoted_citations and unquoted_citations[0][1].section_id == mark.section_id:
            number, citation = unquoted_citations.popleft()
            by_sentence[key] = [(number, citation.state)]
    # A mark is shown with the citations of its own quotes or, if it has none, with those of its sentence.
    marks = []
    for match in MARK.finditer(answer):
        sentence = bisect_right(sentence_starts, match.start()) - 1
        for section_id in dict.fromkeys(MARKED_ID.findall(match.group())):
            cited = by_mark.get((section_id, match.start())) or by_sentence.get((section_id, sentence), [])
            marks.append(
                JudgedMark(
                    start=match.start(),
                    end=match.end(),
                    section_id=section_id,
                    numbers=tuple(number for number, _ in cited),
                    verdict=min(
                        (verdict for _, verdict in cited), key=_FROM_WORST_TO_BEST.index, default=QuoteState.NO_QUOTE
                    ),
                )
            )
    return AnswerProof(answer=answer, parsed=parsed, quotes=tuple(quotes), marks=tuple(marks))


def _may_cite(citation: Citation, quote: Quotation) -> bool:
    """Return whether the words are the same and, for code, also the section: elsewhere the same code is a mere name."""
    is_name = quote.is_code and all(mark.section_id != citation.section_id for mark in quote.marks)
    return citation.quote == quote.text and not is_name


def _list_statements(answer: str, parsed: ParsedAnswer) -> Iterator[tuple[Bounds, Sequence[Quotation]]]:
    """Yield the bounds of each statement with its quotes.

    A sentence that is only a quote, or code, belongs to the statement before it.
    """
    pending: tuple[Bounds, list[Quotation]] | None = None
    no_claims = [match.span() for match in _NO_CLAIM.finditer(answer)]
    sentences = [answer[start:end] for start, end in parsed.sentences]
    quote_starts = [quote.start for quote in parsed.quotes]
    for (start, end), next_sentence in zip(parsed.sentences, [*sentences[1:], ""], strict=True):
        quote_index = bisect_left(quote_starts, start)
        quotes = parsed.quotes[quote_index : bisect_left(quote_starts, end)]
        # The quote before may continue in this sentence. Quotes do not overlap, so no earlier one can.
        is_inside_quote = quote_index > 0 and parsed.quotes[quote_index - 1].end > start
        lead = _LEAD.match(answer, start, end)
        assert lead is not None  # it also matches the empty string
        bounds = lead.end(), start + len(answer[start:end].rstrip(" \t\n|"))
        nearest = bisect_right(no_claims, bounds[0], key=itemgetter(0)) - 1
        is_no_claim = nearest >= 0 and bounds[0] < no_claims[nearest][1]
        is_table_head = _TABLE_RULE.match(next_sentence) is not None
        may_claim = not (is_inside_quote or is_no_claim or is_table_head)
        if may_claim and _is_claim(answer[start:end], start, quotes):
            if pending is not None:
                yield pending
            pending = bounds, [*quotes]
        elif pending is not None:
            pending[1].extend(quotes)
    if pending is not None:
        yield pending


def _is_claim(text: str, start: int, quotes: Sequence[Quotation]) -> bool:
    """Return whether a sentence that begins at `start` in the answer says something by itself, without its quotes."""
    words = MARK.sub(" ", text).strip()
    ending = words.rstrip("*_")
    if (
        not any(character.isalpha() for character in words)
        or (ending.endswith((":", "：")) and not quotes)  # an introduction
        or ending.endswith(("?", "？"))
        or _FENCE.search(words)  # code
        or is_not_found(words)
        or (_GREETING.match(words) and len(words.split()) <= _GREETING_WORDS_MAX)
    ):
        return False
    # Without its quotes, marks and list number, a claim still has words.
    rest = text
    for quote in reversed(quotes):
        rest = rest[: max(0, quote.start - start)] + rest[quote.end - start :]
    return any(character.isalnum() for character in re.sub(r"^\s*\d+[.)]", "", MARK.sub(" ", rest)))
