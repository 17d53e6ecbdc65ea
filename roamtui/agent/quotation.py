"""Finds what an answer puts between double quotation marks, in any language's marks, nested ones included."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TYPOGRAPHIC = re.compile(
    r"“(?P<curly>[^“”]*(?:“[^“”]*”[^“”]*)*)”|„(?P<low>[^„“”]+)[“”]|«(?P<guillemets>[^«»]*(?:«[^«»]*»[^«»]*)*)»"
    r"|»(?P<reversed>[^«»]+)«|「(?P<corner>[^「」]+)」|『(?P<white_corner>[^『』]+)』|〝(?P<prime>[^〝〞〟]+)[〞〟]"
    r"|＂(?P<wide>[^＂\n]+)＂|(?<![^\s(\[])”(?P<same>[^“”\n]+)”"
)
_STRAIGHT = re.compile(r"\"|\n[ \t]*\n")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)\1(?!`)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words between quotation marks."""

    text: str
    start: int
    """Offset of the opening mark."""
    end: int
    """Offset after the closing mark."""
    is_code: bool = False
    """Whether it stands between backticks: a quote only where an id stands in its sentence."""


def find_quotations(answer: str) -> list[Quotation]:
    """Return the outermost quotations of an answer in order, and what stands in backticks outside of them.

    String literals inside code are none.
    """
    found = [*_find_typographic(answer), *_find_straight(answer)]
    spans = [*_CODE.finditer(answer)]
    code = [(match.start(), match.end()) for match in spans]
    quoted = [one for one in _keep_outermost(found) if one.text and not _is_inside(one, code)]
    coded = [Quotation(_read_code(m.group()), m.start(), m.end(), is_code=True) for m in spans]
    return _keep_outermost([*quoted, *(one for one in coded if one.text)])


def _read_code(span: str) -> str:
    """Return what stands in a code span; of a fenced block what stands below the line with its language."""
    inside = span.strip("`")
    if span.startswith("```") and "\n" in inside:
        inside = inside.partition("\n")[2]
    return inside.strip()


def _find_typographic(answer: str) -> Iterator[Quotation]:
    for match in _TYPOGRAPHIC.finditer(answer):
        text = next(group for group in match.groups() if group is not None)
        yield Quotation(text.strip(), match.start(), match.end())


def _find_straight(answer: str) -> Iterator[Quotation]:
    """Yield pairs of straight marks, inner ones first; a mark opens or closes by what stands beside it."""
    opened: list[int] = []
    for match in _STRAIGHT.finditer(answer):
        position = match.start()
        if match.group() != '"':
            opened.clear()
            continue
        before, after = answer[position - 1 : position] if position else "", answer[position + 1 : position + 2]
        can_open = bool(after.strip()) and not _is_letter(before)
        can_close = bool(before.strip()) and not _is_letter(after)
        if opened and (can_close or not can_open):
            start = opened.pop()
            yield Quotation(answer[start + 1 : position].strip(), start, position + 1)
        elif can_open or not can_close:
            opened.append(position)


def _is_letter(character: str) -> bool:
    """Return whether words go on beside this character: scripts without spaces quote in the middle of a line."""
    return character.isalnum() and ord(character) < 0x0E00


def _keep_outermost(quotations: Iterable[Quotation]) -> list[Quotation]:
    kept: list[Quotation] = []
    for quotation in sorted(quotations, key=lambda quotation: (quotation.start, -quotation.end)):
        if not kept or quotation.start >= kept[-1].end:
            kept.append(quotation)
    return kept


def _is_inside(quotation: Quotation, code: list[tuple[int, int]]) -> bool:
    index = bisect_right(code, (quotation.start, quotation.start)) - 1
    return index >= 0 and quotation.end <= code[index][1]
