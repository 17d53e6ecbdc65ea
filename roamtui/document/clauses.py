"""Find the numbered clauses of contracts: paragraphs and headings whose numbers form a sequence."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, groupby, pairwise

from msgspec import Struct

from roamtui.document.document import NodeKind, NodeRow
from roamtui.text import ROMAN_NUMERALS, shorten

_NUMBER = (
    r"(?P<marks>[*_]*)(?P<word>(?i:article|section)[ \t]+)?"
    r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}|(?(word)[IVX]{1,5}|(?!)))(?P<point>\\?[.:]?)"
)
_CLAUSE = rf"[ \t]*{_NUMBER}(?=[\s*_]+\\?[\"“(\[A-Z_]|(?<=[.:])[A-Z]|[*_ \t]*(?:\n|\Z))"
"""The start of a paragraph: a number and a capital letter, or only a number."""
_FIRST = re.compile(_CLAUSE)
_PARAGRAPH = re.compile(rf"\n[ \t]*\n{_CLAUSE}")
_HEADING = re.compile(rf"{_NUMBER}(?=[\s*_]|(?<=[.:])[A-Z]|$)")
_STARTS = frozenset("0123456789AaSs*_")
"""What a numbered title starts with."""
_CONTENTS_LINE_MAX = 400
"""Maximum length of a line of a contents page, which may list all clauses of an article, in characters."""
_WORD = re.compile(r"[^\W\d_]+")
_TITLE_END = re.compile(r"(?<=\w)[.:]\s.*")
_TITLE_LENGTH = 80
_COUNT_MIN = 5
_LENGTH_MIN = 200
"""Minimum mean length of a clause, in characters. Steps and lines of a contents page are shorter."""
_DIVIDED_MIN = 6_000
"""Minimum length, in characters, of a section that is divided: about 1,500 tokens."""
_LEVEL_MAX = 6
_SEQUENCES_MAX = 7
"""Maximum number of sequences that may continue at a time. A list in a clause begins another sequence."""


class _Clause(Struct):
    """A numbered heading, or a paragraph that may be a clause."""

    offset: int
    key: tuple[int, ...]
    """Parts of its number."""
    title: str
    level: int
    """Of a heading; 0 for a paragraph."""
    above: int
    """Level of the heading above a paragraph; 0 if there is none."""
    is_sure: bool
    """Whether it surely is a clause, because items of lists look different."""


class _ClauseSequence(Struct):
    clauses: list[_Clause]

    @property
    def length(self) -> int:
        """Number of characters from its first number to its last."""
        return self.clauses[-1].offset - self.clauses[0].offset

    def follows(self, key: tuple[int, ...]) -> bool:
        """Return whether a number may come next, such as 2.3.1, 2.4 or 3 after 2.3. One may be missing."""
        last = self.clauses[-1].key
        same = 0
        while same < min(len(last), len(key)) and last[same] == key[same]:
            same += 1
        before = last[same] if same < len(last) else 0
        step = key[same] - before if same < len(key) else 0
        return step == 1 or (step == 2 and same == len(key) - 1)


def add_clauses(text: str, start: int, headings: list[NodeRow]) -> list[NodeRow]:
    r"""Return the `headings` of a text, whose lines end with ``\n``, and its numbered clauses from `start`.

    In a text without headings, clauses whose numbers follow each other are the outline. Between headings,
    they divide long sections, and fill the gaps between numbered headings.
    """
    if headings and len(text) < _DIVIDED_MIN:
        return headings
    clauses: list[NodeRow] = []
    later: set[tuple[tuple[int, ...], str]] = set()
    for sequence in reversed(_collect_sequences(text, start, headings)):
        names = {(clause.key, _make_name(clause)) for clause in sequence.clauses}
        # The lines of a contents page come again later, as headings or clauses.
        is_repeated = 2 * len(names & later) >= len(names)
        if not (is_repeated and sequence.length < _CONTENTS_LINE_MAX * len(sequence.clauses)):
            clauses += _select_clauses(sequence)
        later |= names
    return sorted([*clauses, *headings], key=lambda row: row.start)


def _collect_sequences(text: str, start: int, headings: Sequence[NodeRow]) -> list[_ClauseSequence]:
    sequences: list[_ClauseSequence] = []
    active: list[_ClauseSequence] = []
    for clause in _iter_clauses(text, start, headings):
        for index in reversed(range(len(active))):
            if active[index].follows(clause.key):
                del active[index + 1 :]
                active[index].clauses.append(clause)
                break
        else:
            if clause.level or clause.key[0] == 1 == max(clause.key):
                sequence = _ClauseSequence([clause])
                sequences.append(sequence)
                active.append(sequence)
                if len(active) > _SEQUENCES_MAX:
                    del active[1]  # the first sequence numbers the whole document
    return sequences


def _make_name(clause: _Clause) -> str:
    word = _WORD.search(clause.title)
    return word[0].casefold() if word else ""


def _iter_clauses(text: str, start: int, headings: Sequence[NodeRow]) -> Iterator[_Clause]:
    """Yield the numbered headings and the paragraphs that may be clauses, in order."""
    sections = [NodeRow(NodeKind.PREAMBLE, 0, "", start), *headings]
    starts = [*(section.start for section in sections), len(text)]
    numbers = {
        row: key for row, section in enumerate(sections) if (key := parse_clause_number(section.title))
    }
    rows = {row for row, (begin, end) in enumerate(pairwise(starts)) if end - begin >= _DIVIDED_MIN}
    rows.update(row for number in numbers for row in (number - 1, number))
    for row in sorted(rows) if headings else (0,):
        section = sections[row]
        number = numbers.get(row)
        begin = starts[row]
        end = starts[row + 1]
        if number:
            yield _Clause(begin, number, section.title, section.level, 0, is_sure=True)
        body = min(text.find("\n", begin) + 1 or end, end) if section.level else begin
        first = _FIRST.match(text, body, end)
        for match in chain((first,) if first else (), _PARAGRAPH.finditer(text, max(begin - 1, 0), end)):
            key = _parse_key(match["number"])
            offset = match.start("marks")
            is_marked = bool(key) and (match["word"] or match["point"] or len(key) > 1)
            line = text[offset : offset + _CONTENTS_LINE_MAX].partition("\n")[0]
            if not is_marked:
                continue
            words = line[match.end("point") - offset :]
            name = _TITLE_END.sub("", words).strip(" *_")
            shown = shorten(f"{line.removesuffix(words)} {name}".strip(" *_"), _TITLE_LENGTH)
            is_sure = bool(match["word"]) or len(key) > 1 or name.isupper() or words[:1].isalpha()
            line_start = text.rfind("\n", 0, offset) + 1
            yield _Clause(line_start, key, shown, 0, section.level, is_sure)


def parse_clause_number(title: str) -> tuple[int, ...]:
    """Return the number at the start of a title: (2,) for "Article II", (2, 1) for "2.1", else ()."""
    match = _HEADING.match(title) if title[:1] in _STARTS else None
    return _parse_key(match["number"]) if match else ()


def _parse_key(number: str) -> tuple[int, ...]:
    """Return the parts of a number: (2,) for "II" and "2.0", (2, 1) for "2.1"."""
    if (numeral := number.lower()) in ROMAN_NUMERALS:
        return (ROMAN_NUMERALS.index(numeral) + 1,)
    parts = [int(part) for part in number.split(".") if part.isdigit()]
    if len(parts) > 1 and not parts[-1]:
        parts.pop()
    return tuple(parts)


def _select_clauses(sequence: _ClauseSequence) -> Iterator[NodeRow]:
    clauses = sequence.clauses
    levels = {len(clause.key): clause.level for clause in clauses if clause.level}
    is_outline = len(clauses) >= _COUNT_MIN and clauses[-1].key[0] > 2
    is_deep = max(len(clause.key) for clause in clauses) > 1 or all(clause.is_sure for clause in clauses)
    if (levels and sum(clause.level > 0 for clause in clauses) < 3) or (
        not levels and not (is_outline and is_deep)
    ):
        return
    for is_heading, group in groupby(clauses, key=lambda clause: clause.level > 0):
        part = list(group)
        length = part[-1].offset - part[0].offset
        if is_heading or (len(part) >= _COUNT_MIN and length < _LENGTH_MIN * (len(part) - 1)):
            continue
        for clause in part:
            if clause.is_sure or not levels:
                level = _choose_level(clause, levels, clauses)
                yield NodeRow(NodeKind.SECTION, level, clause.title, clause.offset)


def _choose_level(clause: _Clause, levels: dict[int, int], clauses: list[_Clause]) -> int:
    depth = len(clause.key)
    if levels:
        nearest = min(levels, key=lambda known: (abs(known - depth), known > depth))
        return min(_LEVEL_MAX, max(1, levels[nearest] + depth - nearest))
    return min(_LEVEL_MAX, clause.above + 1 + depth - min(len(other.key) for other in clauses))
