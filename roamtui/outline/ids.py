"""The one grammar of ids: in requests of a model, in the marks of an answer, and in lines of this program.

An id is eight hexadecimal digits, perhaps with a part of the section (``07f3277d:2``) or a range of its
children (``07f3277d:c2.5``). A date or a hash can look the same: only the existing sections tell an id from
these.
"""

import re
from collections.abc import Callable, Container, Iterator

from msgspec import Struct

ID = r"[0-9a-f]{8}"
_PART = r":(?:\d{1,6}|c\d{1,6}(?:\.\d{1,6})*)"
_REFERENCE = re.compile(rf"({ID})(?::(?:(\d{{1,6}})|c(\d{{1,6}}(?:\.\d{{1,6}})*)))?\Z", re.ASCII)
WORD = rf"(?<![0-9A-Za-z_])[0-9A-Fa-f]{{8}}(?:{_PART})?(?![0-9A-Za-z_])"
"""An id of any form and case, as a word."""
_WORD = re.compile(WORD, re.ASCII)
_ONLY_IDS = re.compile(rf"[^\w]*(?:{WORD}[^\w]*)+")
"""``[07f3277d], 1f2e3d4c``, not ``Fees [07f3277d]``."""
_AROUND = " \t\r\n[]`\"'§"
_OPENING = r"\\?[\[【［〔〖]"
_CLOSING = r"\\?[\]】］〕〗]"
_NOTE = r"(?:[^\[\]【】［］〔〕〖〗\\\"“”„«»「」『』\n]|\"(?=[0-9A-Fa-f]{8})|(?<=[0-9A-Fa-f])\"){0,120}"
"""Words next to an id, such as the title of its section, but no quotation."""
_SQUARE = rf"{_OPENING}(?={_NOTE}{WORD}){_NOTE}{_CLOSING}"
"""``[Fees, 07f3277d]``, not ``[“Fees” 07f3277d]``."""
_BETWEEN = r"[^\w()<>{}（）\[\]\n]*+"
_ROUND = rf"[(<{{（]{_BETWEEN}(?:{WORD}{_BETWEEN})+[)>}}）]"
"""``(07f3277d, 1f2e3d4c)``, not ``(Fees 07f3277d)``."""
_BARE = rf"(?<![/.:@#=&?+%$€£-]){WORD}(?![/@%]|[.,-]\w)(?!(?<=[\[(【（].{{8}})\Z)"
"""``see 07f3277d``, not ``/07f3277d.md``. Nor after an open bracket at the end of a text that streams in."""
_MARK = re.compile(rf"(?P<tick>`?)(?:{_SQUARE}|{_ROUND}|{_BARE})(?P=tick)")
_PLAIN_MARK = re.compile(rf" ?\[({ID})(?:{_PART})?\]", re.ASCII)
"""The form in which this program puts ids into texts."""
_BRACKETED = re.compile(rf"\[((?=[^\[\]]*{WORD})[^\[\]]*)\]", re.ASCII)


class Reference(Struct, frozen=True, kw_only=True):
    """A parsed id from a tool call."""

    section_id: str
    part: int | None = None
    """1-based part of the section's own text."""
    range_numbers: tuple[int, ...] = ()
    """1-based number of a range of the section's children, then of a range within that range, and so on."""


class IdMark(Struct, frozen=True):
    """A place in a text that has ids of sections, with the brackets around them and the words inside."""

    start: int
    end: int
    section_ids: tuple[str, ...]
    is_link: bool = False
    """Whether it is a link to a section. Then `section_ids` has a name for the link instead of an id."""


def parse_reference(text: str) -> Reference | None:
    """Parse an id of any form, or return None if `text` does not look like one."""
    match = _REFERENCE.match(text.strip(_AROUND).lower())
    if match is None:
        return None
    section_id, part, range_numbers = match.groups()
    return Reference(
        section_id=section_id,
        part=int(part) if part else None,
        range_numbers=tuple(int(step) for step in range_numbers.split(".")) if range_numbers else (),
    )


def list_ids(text: str, start: int = 0) -> list[str]:
    """List all words of a text that look like ids, in lower case, each with its part or range."""
    return [word.lower() for word in _WORD.findall(text, start)]


def has_only_ids(text: str) -> bool:
    """Return whether a text has no words but ids."""
    return _ONLY_IDS.fullmatch(text) is not None


def iter_id_marks(
    text: str, known: Container[str], accepts: Callable[[IdMark], bool] | None = None
) -> Iterator[IdMark]:
    """Yield the marks of a text: `known` ids, in brackets of any form or without brackets.

    An id that is not known is a mark only in plain square brackets, and only if `accepts` says so.
    """
    if _WORD.search(text) is None:
        return
    for match in _MARK.finditer(text):
        section_ids = (word[:8] for word in list_ids(match[0]))
        named = tuple(dict.fromkeys(section_id for section_id in section_ids if section_id in known))
        if named:
            yield IdMark(match.start(), match.end(), named)
        elif accepts is not None and (plain := _PLAIN_MARK.fullmatch(match[0])) is not None:
            unknown = IdMark(match.start(), match.end(), (plain[1],))
            if accepts(unknown):
                yield unknown


def strip_id_marks(text: str, known: Container[str]) -> str:
    """Remove the ids of `known` sections that this program put into a text."""
    return _PLAIN_MARK.sub(lambda match: "" if match[1] in known else match[0], text)


def disguise_id_marks(text: str) -> str:
    """Put what looks like a mark in round brackets, so that nobody takes a title for an id."""
    return _BRACKETED.sub(r"(\1)", text)
