"""Reads a request as a person would: the question, what was given, what the last search found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from roamtui.conversation.transcript import FOUND_LEAD, QUESTION_START, Message, Role
from roamtui.outline.annotation import strip_marks
from roamtui.outline.labels import WHOLE_TOKENS_MAX
from roamtui.search.query import goes_on, points_back
from roamtui.search.terms import query_terms

_HEAD = r"^\[(?P<id>[0-9a-f]{8})\] (?P<path>.+) \((?:p\. \d+, )?lines (?P<first>\d+)-(?P<last>\d+)\)$"
_GIVEN = re.compile(
    rf"{_HEAD}(?P<body>(?:\n<<<(?P<nonce>[g-z]{{8}})\n(?:.*\n)*?(?P=nonce)>>>(?:\n\(lines .*\))*|\n\(lines .*\))+)",
    re.MULTILINE,
)
_FENCE = re.compile(r"^<<<([g-z]{8})\n(.*?)\n\1>>>$", re.MULTILINE | re.DOTALL)
_INSIDE = re.compile(
    r"^ {0,3}(?:#{1,6}[ \t]+(?P<atx>.*)|(?P<setext>\S.*)(?= \[[0-9a-f]{8}\][ \t]*\n {0,3}(?:=+|-+)[ \t]*$)) "
    r"\[(?P<id>[0-9a-f]{8})\][ \t]*$",
    re.MULTILINE,
)
"""A heading of a delivered text, with the id behind it."""
_HIT = re.compile(
    r"^- \[(?P<id>[0-9a-f]{8})\] (?P<path>.*) \((?:optional, )?"
    r"(?:(?:(?P<own>[\d.]+[kMG]?|list) of )?(?P<all>[\d.]+[kMG]?)|page)[^()\n]*\)(?P<excerpt>(?:\n    .*)*)",
    re.MULTILINE,
)
_HIT_FILE = re.compile(r"^(?!- )(\S.*):$", re.MULTILINE)
"""The file that the hits below it stand in."""
_PAGE_HIT = re.compile(r"^- \[([0-9a-f]{8})\] .* \(page[^)\n]*\)$", re.MULTILINE)
_ID_ARGUMENT = re.compile(r"[0-9a-f]{8}")
_PAGE_TOKENS = 1_000
"""What a page is taken for that was not fetched yet."""
_NOTHING = "Nothing found."
_NEAREST = re.compile(r"^.* Nearest: (.*)$", re.MULTILINE)
"""What is told of a name that no section has."""
_LISTED = re.compile(r"^ *- \[([0-9a-f]{8})\] (.*)$", re.MULTILINE)
_WITHIN = re.compile(
    r"^\(The question is about \[(?P<id>[0-9a-f]{8})\] (?P<path>.+) and what lies below it:", re.MULTILINE
)
_FOLLOW_UP_TERMS_MAX = 3
_UNITS = {"k": 1_000, "M": 1_000_000, "G": 1_000_000_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A section whose text stands in the messages."""

    section_id: str
    path: str
    text: str
    inside: tuple[tuple[int, str, str], ...] = ()
    """Sections inside it: where in the text each begins, its id and its title."""

    def find_holder(self, quote: str) -> tuple[str, str]:
        """Return id and title of the innermost section that holds a quote."""
        start = self.text.find(quote)
        held = [(section_id, title) for offset, section_id, title in self.inside if offset <= start]
        return held[-1] if held else (self.section_id, self.path.rpartition(" > ")[2].strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A hit of the last search."""

    section_id: str
    path: str
    tokens: int
    """Of what opening it gives, about."""
    snippet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a request says."""

    question: str
    earlier_questions: tuple[str, ...]
    given: tuple[Given, ...]
    """What can be quoted: of that section alone, where there is one."""
    given_ids: frozenset[str]
    """Ids whose text was given, also inside others."""
    asked_ids: frozenset[str]
    """Ids that this question asked for already."""
    found: tuple[Found, ...]
    has_searched: bool
    nearest_ids: tuple[str, ...] = ()
    """Ids that were told in place of what this question asked for by name, or of what a search did not find."""
    listed: tuple[tuple[str, str], ...] = ()
    """Id and title of subsections that this question's expansions named without their text."""
    steps: tuple[str, ...] = ()
    """Names of the tools that this question called, in order."""
    has_new_page: bool = False
    """Whether the last call opened a page, below which search may find more now."""
    started_ids: frozenset[str] = frozenset()
    """Ids of the sections that search opened with this question."""
    within_id: str | None = None
    """The section that the question is about, None for the whole document."""


def read_messages(messages: Sequence[Message]) -> Reading:
    """Return what the messages of a request say."""
    questions = [index for index, message in enumerate(messages) if message.role is Role.USER]
    last = questions[-1] if questions else 0
    texts = [message.text for message in messages if message.role in (Role.USER, Role.TOOL)]
    since = messages[last + 1 :] if questions else ()
    calls = [call for message in since for call in message.tool_calls]
    results = {message.tool_call_id: message.text for message in since if message.role is Role.TOOL}
    searches = [results.get(call.id, "") for call in calls if call.name == "search_sections"]
    expansions = [call for call in calls if call.name == "expand_sections"]
    given = [section for text in texts for section in _find_given(text)]
    within = _find_within(messages[last].text) if questions else None
    told = [line for call in expansions for line in _NEAREST.findall(results.get(call.id, ""))]
    told += [text for text in searches if text.startswith(_NOTHING)]
    nearest = tuple(_ID_ARGUMENT.findall(told[0])) if told else ()
    pages = {*nearest, *_PAGE_HIT.findall("\n".join(searches))}
    last_ids = _ID_ARGUMENT.findall(calls[-1].arguments) if calls and calls[-1].name == "expand_sections" else []
    given = [_strip_ids(section) for section in given]
    inside = (section_id for section in given for _, section_id, _ in section.inside)
    return Reading(
        question=_read_question(messages[last].text) if questions else "",
        earlier_questions=tuple(_read_question(messages[index].text) for index in questions[:-1]),
        within_id=within["id"] if within else None,
        given=tuple(_keep_within(given, within["path"]) if within else given),
        given_ids=frozenset((*(section.section_id for section in given), *inside)),
        started_ids=frozenset(_find_started(messages[last].text) if questions else ()),
        asked_ids=frozenset(found for call in expansions for found in _ID_ARGUMENT.findall(call.arguments)),
        found=tuple(_find_hits(searches[-1])) if searches and not searches[-1].startswith(_NOTHING) else (),
        has_searched=bool(searches),
        nearest_ids=nearest,
        listed=tuple(line for call in expansions for line in _LISTED.findall(_FENCE.sub("", results.get(call.id, "")))),
        steps=tuple(call.name for call in calls),
        has_new_page=not pages.isdisjoint(last_ids),
    )


def _find_started(text: str) -> list[str]:
    _, mark, opened = text.rpartition(FOUND_LEAD)
    return [section.section_id for section in _find_given(opened)] if mark else []


def _find_within(text: str) -> re.Match[str] | None:
    """Return where a message says which section its question is about."""
    preface, _, _ = text.rpartition(f"\n\n{QUESTION_START}")
    notes = [*_WITHIN.finditer(preface)]
    return notes[-1] if notes else None


def _keep_within(given: Sequence[Given], path: str) -> list[Given]:
    """Return the sections at a path or below it, else those that may hold it."""
    inside = [section for section in given if f"{section.path} > ".startswith(f"{path} > ")]
    return inside or [section for section in given if path.startswith(f"{section.path} > ")]


def _read_question(text: str) -> str:
    _, mark, question = text.rpartition(f"\n\n{QUESTION_START}")
    return question if mark else text


def _find_given(text: str) -> list[Given]:
    sections = []
    for match in _GIVEN.finditer(text):
        body = "\n\n".join(content for _, content in _FENCE.findall(match["body"]))
        if body:
            sections.append(Given(section_id=match["id"], path=match["path"], text=body))
    return sections


def _strip_ids(section: Given) -> Given:
    """Return a section whose text is as in the source: ids were added for the model."""
    inside = tuple(
        (len(strip_marks(section.text[: match.start()])), match["id"], strip_marks(match["atx"] or match["setext"]))
        for match in _INSIDE.finditer(section.text)
    )
    return replace(section, text=strip_marks(section.text), inside=inside)


def _find_hits(text: str) -> Iterator[Found]:
    """Yield the hits of a search as they stand, each with the name of its file in its path where there is one."""
    heads = [(match.start(), match[1]) for match in _HIT_FILE.finditer(text)]
    for match in _HIT.finditer(text):
        file = next((name for start, name in reversed(heads) if start < match.start()), "")
        yield Found(
            section_id=match["id"],
            path=f"{file} > {match['path']}" if file else match["path"],
            tokens=_estimate_cost(match["own"], match["all"]),
            snippet=" ".join(match["excerpt"].split()),
        )


def _estimate_cost(own: str | None, total: str | None) -> int:
    """Return about how many tokens opening a hit gives: a small subtree whole, else its own text."""
    if total is None:
        return _PAGE_TOKENS
    tokens = _read_count(total)
    return tokens if tokens <= WHOLE_TOKENS_MAX or own is None else 0 if own == "list" else _read_count(own)


def _read_count(text: str) -> int:
    unit = _UNITS.get(text[-1], 1)
    return int(float(text.rstrip("kMG")) * unit)


def is_follow_up(question: str) -> bool:
    """Return whether a question leans on the one before it."""
    is_short = len(query_terms(question)) <= _FOLLOW_UP_TERMS_MAX
    is_why = question.strip().lower().startswith("why")
    return is_why or goes_on(question) or (is_short and points_back(question))
