"""Parse the messages of a request for the offline model: the question, delivered sections, and search results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from roamtui.conversation.transcript import CELL_LEAD, FOUND_LEAD, QUESTION_START, Message, Role
from roamtui.outline.id_marks import strip_ids
from roamtui.outline.labels import WHOLE_TOKENS_MAX
from roamtui.search.query import has_pronoun, is_continuation
from roamtui.search.terms import extract_query_terms

HITS_MAX = 8
"""Number of hits that the model requests from a search."""
_HEAD = r"^\[(?P<id>[0-9a-f]{8})\] (?P<path>.+) \((?:p\. \d+, )?lines (?P<first>\d+)-(?P<last>\d+)\)$"
_DELIVERED = re.compile(
    rf"{_HEAD}(?P<body>(?:\n<<<(?P<nonce>[g-z]{{8}})\n(?:.*\n)*?(?P=nonce)>>>(?:\n\(lines .*\))*|\n\(lines .*\))+)",
    re.MULTILINE,
)
_FENCE = re.compile(r"^<<<([g-z]{8})\n(.*?)\n\1>>>$", re.MULTILINE | re.DOTALL)
_INNER_HEADING = re.compile(
    r"^ {0,3}(?:#{1,6}[ \t]+(?P<atx>.*)|(?P<setext>\S.*)(?= \[[0-9a-f]{8}\][ \t]*\n {0,3}(?:=+|-+)[ \t]*$)) "
    r"\[(?P<id>[0-9a-f]{8})\][ \t]*$",
    re.MULTILINE,
)
"""A heading in a delivered text, followed by its id."""
_HIT = re.compile(
    r"^- \[(?P<id>[0-9a-f]{8})\] (?P<path>.*) \((?:optional, )?"
    r"(?:(?:(?P<own>[\d.]+[kMG]?|list) of )?(?P<all>[\d.]+[kMG]?)|page)[^()\n]*\)(?P<excerpt>(?:\n    .*)*)",
    re.MULTILINE,
)
_HIT_FILE = re.compile(r"^(?!- )(\S.*):$", re.MULTILINE)
"""The name of a file above its hits."""
_PAGE_HIT = re.compile(r"^- \[([0-9a-f]{8})\] .* \(page[^)\n]*\)$", re.MULTILINE)
_ID = re.compile(r"[0-9a-f]{8}")
_ASSUMED_PAGE_TOKENS = 1_000
"""Assumed size of a page that is not fetched yet, in tokens."""
_NO_HITS = "Nothing found."
_NEAREST = re.compile(r"^.* Nearest: (.*)$", re.MULTILINE)
"""Result of a call with a name that no section has."""
_LISTED = re.compile(r"^ *- \[([0-9a-f]{8})\] (.*)$", re.MULTILINE)
_WITHIN = re.compile(
    r"^\(The question is about \[(?P<id>[0-9a-f]{8})\] (?P<path>.+) and what lies below it:", re.MULTILINE
)
_FOLLOW_UP_TERMS_MAX = 3
_TOKEN_UNITS = {"k": 1_000, "M": 1_000_000, "G": 1_000_000_000}

_PAGE_COUNT = re.compile(
    r"^\(Page 1 of (\d+) of this section's own text\. The next is \[([0-9a-f]{8}):2\]\.\)$", re.MULTILINE
)
_PAGE_ID = re.compile(r"[0-9a-f]{8}:\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveredSection:
    """A section whose text is in the messages."""

    section_id: str
    path: str
    text: str
    """Text as in the source, without the ids that were added for the model."""
    subsections: tuple[tuple[int, str, str], ...] = ()
    """Sections inside it: offset in the text, id, and title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedHit:
    """A search hit, as the model reads it."""

    section_id: str
    path: str
    """Titles down to the section. The name of the file comes first if the hits are grouped by file."""
    tokens: int
    """Estimated tokens of the text that the section gives when it is opened."""
    snippet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedRequest:
    """The parts of a request that the offline model uses."""

    question: str
    earlier_questions: tuple[str, ...] = ()
    delivered: tuple[DeliveredSection, ...] = ()
    """Sections that can be quoted. If `within_id` is set, only those inside it."""
    delivered_ids: frozenset[str] = frozenset()
    """Ids of all sections whose text was delivered, including those inside other sections."""
    requested_ids: frozenset[str] = frozenset()
    """Ids of sections that the model requested for this question."""
    hits: tuple[ParsedHit, ...] = ()
    """Hits of the last search for this question."""
    earlier_hits: tuple[ParsedHit, ...] = ()
    """Hits of the earlier searches for this question."""
    has_searched: bool = False
    nearest_ids: tuple[str, ...] = ()
    """Ids suggested for an unknown name, or by a search without results."""
    listed_subsections: tuple[tuple[str, str], ...] = ()
    """Id and title of each subsection that was listed without its text."""
    steps: tuple[str, ...] = ()
    """Names of the tools that were called for this question, in order."""
    has_new_page: bool = False
    """Whether the last call opened a page, so that another search may find more."""
    page_counts: tuple[tuple[str, int], ...] = ()
    """Id and number of pages of each section that is opened page by page."""
    requested_pages: frozenset[str] = frozenset()
    """Ids of pages that the model requested for this question."""
    preopened_ids: frozenset[str] = frozenset()
    """Ids of the sections that search opened together with the question."""
    within_id: str | None = None
    """Id of the section that the question is limited to, or None for the whole document."""
    is_cell: bool = False
    """Whether the answer fills a cell of a table."""

    @property
    def is_follow_up(self) -> bool:
        """Whether the question refers to the previous one."""
        is_short = len(extract_query_terms(self.question)) <= _FOLLOW_UP_TERMS_MAX
        is_why = self.question.strip().lower().startswith("why")
        return is_why or is_continuation(self.question) or (is_short and has_pronoun(self.question))


def parse_messages(messages: Sequence[Message]) -> ParsedRequest:
    """Parse the messages of a request."""
    question_indices = [index for index, message in enumerate(messages) if message.role is Role.USER]
    if not question_indices:
        return ParsedRequest(question="")
    preface, questions = "", []
    for index in question_indices:
        preface, mark, question = messages[index].text.rpartition(f"\n\n{QUESTION_START}")
        questions.append(question if mark else messages[index].text)
    later_messages = messages[question_indices[-1] + 1 :]
    calls = [call for message in later_messages for call in message.tool_calls]
    results = {message.tool_call_id: message.text for message in later_messages if message.role is Role.TOOL}
    searches = [results.get(call.id, "") for call in calls if call.name == "search_sections"]
    expansions = [call for call in calls if call.name == "expand_sections"]
    expanded = [results.get(call.id, "") for call in expansions]
    suggestions = [line for text in expanded for line in _NEAREST.findall(text)]
    suggestions += [text for text in searches if text.startswith(_NO_HITS)]
    nearest = tuple(_ID.findall(suggestions[0])) if suggestions else ()
    pages = {*nearest, *_PAGE_HIT.findall("\n".join(searches))}
    last_ids = _ID.findall(calls[-1].arguments) if calls and calls[-1].name == "expand_sections" else []
    texts = (message.text for message in messages if message.role in (Role.USER, Role.TOOL))
    delivered = [section for text in texts for section in _parse_delivered_sections(text)]
    inside = (section_id for section in delivered for _, section_id, _ in section.subsections)
    _, mark, started = messages[question_indices[-1]].text.rpartition(FOUND_LEAD)
    within = next(reversed([*_WITHIN.finditer(preface)]), None)
    quotable = delivered
    if within:  # quote the sections at or below its path, or else those that may contain it
        path = within["path"]
        quotable = [section for section in delivered if f"{section.path} > ".startswith(f"{path} > ")]
        quotable = quotable or [section for section in delivered if path.startswith(f"{section.path} > ")]
    return ParsedRequest(
        question=questions[-1],
        earlier_questions=tuple(questions[:-1]),
        within_id=within["id"] if within else None,
        is_cell=len(questions) == 1 and any(CELL_LEAD in message.text for message in messages),
        delivered=tuple(quotable),
        delivered_ids=frozenset((*(section.section_id for section in delivered), *inside)),
        preopened_ids=frozenset(section.section_id for section in _parse_delivered_sections(started if mark else "")),
        requested_ids=frozenset(found for call in expansions for found in _ID.findall(call.arguments)),
        hits=tuple(_parse_hits(searches[-1])) if searches and not searches[-1].startswith(_NO_HITS) else (),
        earlier_hits=tuple(hit for text in searches[:-1] for hit in _parse_hits(text)),
        has_searched=bool(searches),
        nearest_ids=nearest,
        listed_subsections=tuple(line for text in expanded for line in _LISTED.findall(_FENCE.sub("", text))),
        steps=tuple(call.name for call in calls),
        has_new_page=not pages.isdisjoint(last_ids),
        page_counts=tuple((found, int(count)) for text in expanded for count, found in _PAGE_COUNT.findall(text)),
        requested_pages=frozenset(found for call in expansions for found in _PAGE_ID.findall(call.arguments)),
    )


def _parse_delivered_sections(text: str) -> Iterator[DeliveredSection]:
    for match in _DELIVERED.finditer(text):
        body = "\n\n".join(content for _, content in _FENCE.findall(match["body"]))
        if body:
            subsections = tuple(
                (len(strip_ids(body[: head.start()])), head["id"], strip_ids(head["atx"] or head["setext"]))
                for head in _INNER_HEADING.finditer(body)
            )
            yield DeliveredSection(
                section_id=match["id"], path=match["path"], text=strip_ids(body), subsections=subsections
            )


def _parse_hits(text: str) -> Iterator[ParsedHit]:
    heads = [(match.start(), match[1]) for match in _HIT_FILE.finditer(text)]
    for match in _HIT.finditer(text):
        file = next((name for start, name in reversed(heads) if start < match.start()), "")
        own, tokens = match["own"], _ASSUMED_PAGE_TOKENS
        if match["all"] is not None:
            tokens = _parse_tokens(match["all"])
            if tokens > WHOLE_TOKENS_MAX and own is not None:  # then only its own text is given
                tokens = 0 if own == "list" else _parse_tokens(own)
        yield ParsedHit(
            section_id=match["id"],
            path=f"{file} > {match['path']}" if file else match["path"],
            tokens=tokens,
            snippet=" ".join(match["excerpt"].split()),
        )


def _parse_tokens(text: str) -> int:
    return int(float(text.rstrip("kMG")) * _TOKEN_UNITS.get(text[-1], 1))
