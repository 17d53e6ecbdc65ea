"""`LineWriter`: the text of a page, line by line, with the inline elements that Markdown has a form for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import quote, urljoin, urlsplit

from roamtui.sources.convert.html_elements import INLINE, find_code_language, is_permalink, is_unseen
from roamtui.sources.convert.html_tokens import Tag

_INLINES_MAX = 16
_MARK_PIECES_MAX = 12
_BLANKS = re.compile("[ \t\r\n\f\v\N{NO-BREAK SPACE}]+")
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad\\s]+")
_MARKS = frozenset({"", "#", "¶", "§", "🔗", "⚓", "∞", "link", "permalink", "anchor"})
_LENGTH_MAX = 2_000
_SCHEMES = frozenset({"", "http", "https", "mailto"})
_UNWRITABLE = re.compile(r"[\x00-\x20<>()\\\x7f-\x9f\u2028\u2029]")
_STRIPPED = "".join(map(chr, range(33)))


@dataclass(slots=True)
class _Inline:
    """An open inline element."""

    name: str
    start: int
    """Where it begins among the pieces."""
    written: str = ""
    """Name of the element that stands for it in what comes out, empty where none does."""
    is_hidden: bool = False
    is_mark: bool = False
    """Whether it is a link to its own place, left out if it holds no more than a sign for it."""
    seen: int = 0
    """What `LineWriter.seen` was where it begins."""


@dataclass(slots=True)
class LineWriter:
    """Takes text and inline elements, and collects pieces of simple HTML."""

    base_url: str | None
    pieces: list[Tag | str] = field(default_factory=list)
    seen: int = 0
    """Texts and images so far that a reader sees."""
    hidden: int = 0
    """Open elements that are not shown, blocks among them."""
    confined: int = 0
    """Open headings and cells, in which all is one line."""
    depth: int = 0
    """Open blocks."""
    is_heading: bool = False
    is_term: bool = False
    """Whether lines are terms that are defined."""
    is_code: bool = False
    """Whether all is code, written as it stands."""
    code_language: str = ""
    _inlines: list[_Inline] = field(default_factory=list)
    _line_start: int = -1
    _line_seen: int = 0
    _is_after_blank: bool = False
    _link: tuple[str, int] | None = None
    """Address of an open link, and how deep it was opened: blocks in it are links too."""

    def write_text(self, text: str) -> None:
        """Take text as it stands in the page."""
        if self.hidden:
            return
        if self.is_code:
            text = text.replace("\r", "").replace("\N{NO-BREAK SPACE}", " ")
        else:
            text = _BLANKS.sub(" ", text)
            if text != " ":
                self._ensure_line()
            elif self._line_start < 0 and not self.confined:
                return
            if self._is_after_blank:
                text = text.removeprefix(" ")
            self._is_after_blank = text.endswith(" ") if text else True
        self.seen += bool(_INVISIBLE.sub("", text))
        self.pieces.append(text)

    def break_line(self) -> None:
        """Take a line break."""
        if self.is_code:
            self.pieces.append("\n")
        elif self.confined or any(inline.written == "code" for inline in self._inlines):
            self.pieces.append(" ")
        elif self._line_start >= 0:
            self.pieces.append(Tag("br", {}, is_end=False))

    def place_image(self, attributes: dict[str, str]) -> None:
        """Take an image; of one in a heading or a cell only what it says in words is kept."""
        alt = _BLANKS.sub(" ", attributes.get("alt", "")).strip()
        source = resolve_link(attributes.get("src") or attributes.get("data-src") or "", self.base_url)
        if self.confined:
            self.write_text(alt)
        elif alt or source:
            self._ensure_line()
            self.seen += 1
            self._is_after_blank = False
            self.pieces.append(Tag("img", {"alt": alt, "src": source}, is_end=False))

    def start_inline(self, tag: Tag) -> None:
        """Take the start of an inline element."""
        if len(self._inlines) >= _INLINES_MAX:
            return
        name = tag.name
        if is_unseen(name, tag.attributes):
            self.hidden += 1
            self._inlines.append(_Inline(name, len(self.pieces), is_hidden=True))
        elif self.is_code:
            self.code_language = self.code_language or find_code_language(tag.attributes)
            self._inlines.append(_Inline(name, len(self.pieces)))
        elif self.hidden or name not in INLINE:
            self._inlines.append(_Inline(name, len(self.pieces)))
        elif name == "a":
            self.end_inline("a")
            self._start_link(tag.attributes)
        else:
            self._ensure_line()
            self._push(name)

    def end_inline(self, name: str) -> None:
        """Take the end of an inline element."""
        if any(inline.name == name for inline in self._inlines):
            while self._pop() != name:
                pass
        if name == "a":
            self._link = None

    def part(self) -> None:
        """End the open line and all that is open in it."""
        while self._inlines:
            self._pop()
        if self._link is not None and self._link[1] > self.depth:
            self._link = None
        if self.confined:
            if not self._is_after_blank:
                self.pieces.append(" ")
                self._is_after_blank = True
        elif self._line_start >= 0:
            if self.seen > self._line_seen:
                self.pieces.append(Tag("line", {}, is_end=True))
            else:
                del self.pieces[self._line_start :]
            self._line_start = -1

    def continue_link(self) -> None:
        """Begin anew, in a new block, the link that is open around it."""
        if self._link is not None:
            self._push("a", {"href": self._link[0]})

    def _ensure_line(self) -> None:
        """Begin a line where none is open."""
        if self._line_start >= 0 or self.confined:
            return
        self._line_start, self._line_seen = len(self.pieces), self.seen
        self._is_after_blank = True
        self.pieces.append(Tag("line", {}, is_end=False))
        if self.is_term:
            self._push("b")
        self.continue_link()

    def _start_link(self, attributes: dict[str, str]) -> None:
        raw = attributes.get("href", "")
        address = resolve_link(raw, self.base_url)
        is_inner = raw.startswith("#")
        is_mark = is_inner or is_permalink(attributes)
        if not address or (is_inner and self.is_heading):
            self._inlines.append(_Inline("a", len(self.pieces), is_mark=is_mark, seen=self.seen))
            return
        self._ensure_line()
        self._link = (address, self.depth)
        self._push("a", {"href": address}, is_mark=is_mark)

    def _push(self, name: str, attributes: dict[str, str] | None = None, *, is_mark: bool = False) -> None:
        self._inlines.append(_Inline(name, len(self.pieces), written=name, is_mark=is_mark, seen=self.seen))
        self.pieces.append(Tag(name, attributes or {}, is_end=False))

    def _pop(self) -> str:
        inline = self._inlines.pop()
        self.hidden -= inline.is_hidden
        if inline.is_mark and self._is_mark(inline.start):
            del self.pieces[inline.start :]
            self.seen = inline.seen
        elif inline.written:
            self.pieces.append(Tag(inline.written, {}, is_end=True))
        return inline.name

    def _is_mark(self, start: int) -> bool:
        """Return whether a reader sees no more than a sign for a link in the pieces from `start` on."""
        if len(self.pieces) - start > _MARK_PIECES_MAX:
            return False
        pieces = self.pieces[start:]
        if any(isinstance(piece, Tag) and piece.name == "img" for piece in pieces):
            return False
        return _INVISIBLE.sub("", "".join(piece for piece in pieces if isinstance(piece, str))).casefold() in _MARKS


def resolve_link(address: str, base_url: str | None) -> str:
    """Return an address as it can stand in Markdown, absolute where the page's is known; empty for a bad one."""
    address = address.strip(_STRIPPED).replace("\t", "").replace("\n", "").replace("\r", "")
    if not address or len(address) > _LENGTH_MAX:
        return ""
    try:
        if base_url:
            address = urljoin(base_url, address)
        if urlsplit(address).scheme.lower() not in _SCHEMES:
            return ""
    except ValueError:
        return ""
    return _UNWRITABLE.sub(lambda found: quote(found[0]), address)
