"""Turns the inline tokens of a block into runs. Knows no screen."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from roamtui.tui.reader.line import Emphasis, Look, Role, Run, make_run
from roamtui.tui.reader.wrap import HARD_BREAK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

_EMPHASES = {"strong": Emphasis.STRONG, "em": Emphasis.ITALIC, "s": Emphasis.STRUCK}
_NOTE_MARK = re.compile(r"\[\^[^\[\]\s]{1,100}\]")
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_ANCHOR = re.compile(r"<a(?:\s[^>]*)?>", re.IGNORECASE)
_ANCHOR_END = re.compile(r"</a\s*>", re.IGNORECASE)
_HREF = re.compile(r"\shref\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))", re.IGNORECASE)


def read_inline(tokens: Sequence[Token], base: Look, links: list[str]) -> list[Run]:
    """Return the runs of a block's inline tokens.

    Args:
        tokens: The children of an inline token.
        base: What the block looks like.
        links: Addresses of the links of the chunk so far; those found here are appended.
    """
    return list(_read(tokens, base, links))


def _read(tokens: Sequence[Token], base: Look, links: list[str]) -> Iterator[Run]:
    looks = [base]
    for token in tokens:
        kind, _, side = token.type.rpartition("_")
        if side == "open":
            looks.append(_open(looks[-1], kind, token, links))
        elif side == "close":
            looks.pop()
        elif token.type == "html_inline":
            yield from _read_html(token.content, looks, links)
        elif token.type == "image":
            yield _read_image(token, looks[-1], links)
        elif token.type == "text" and "[^" in token.content and looks[-1].link is None:
            yield from _read_notes(token.content, looks[-1], links, is_first=token is tokens[0])
        else:
            yield _read_piece(token, looks[-1])


def _open(look: Look, kind: str, token: Token, links: list[str]) -> Look:
    if kind == "link":
        links.append(str(token.attrGet("href") or ""))
        return replace(look, link=len(links) - 1)
    return replace(look, emphasis=look.emphasis | _EMPHASES.get(kind, Emphasis.NONE))


def _read_html(tag: str, looks: list[Look], links: list[str]) -> Iterator[Run]:
    """Yield what an HTML tag shows: anchors become links, or nothing where they only name a place."""
    if _LINE_BREAK.fullmatch(tag):
        yield HARD_BREAK
    elif _ANCHOR_END.fullmatch(tag):
        looks[-1] = replace(looks[-1], link=None)
    elif _ANCHOR.fullmatch(tag):
        href = _HREF.search(tag)
        if href:
            links.append(html.unescape(next(group for group in href.groups() if group is not None)))
            looks[-1] = replace(looks[-1], link=len(links) - 1)
    else:
        yield make_run(tag, replace(looks[-1], role=Role.HTML))


def _read_image(token: Token, look: Look, links: list[str]) -> Run:
    """Return an image's text, a link to the image where it is not part of another link."""
    address = str(token.attrGet("src") or "")
    if look.link is None and address:
        links.append(address)
        look = replace(look, link=len(links) - 1)
    return make_run(f"[image: {token.content or address}]", replace(look, role=Role.NOTE))


def _read_notes(text: str, look: Look, links: list[str], *, is_first: bool) -> Iterator[Run]:
    """Yield a text whose marks of footnotes are links: a mark to its note, and the note's own mark to where it is used.

    Args:
        text: What holds marks, as `[^1]`.
        look: What the text looks like.
        links: As in `read_inline`; a mark's address is the mark, with a colon the note's own.
        is_first: Whether the text begins its block, as the mark of a note does.
    """
    position = 0
    for match in _NOTE_MARK.finditer(text):
        if position < match.start():
            yield make_run(text[position : match.start()], look)
        is_note = is_first and match.start() == 0 and text.startswith(":", match.end())
        links.append(f"{match.group()}:" if is_note else match.group())
        yield make_run(match.group(), replace(look, link=len(links) - 1))
        position = match.end()
    if position < len(text):
        yield make_run(text[position:], look)


def _read_piece(token: Token, look: Look) -> Run:
    match token.type:
        case "code_inline":
            return make_run(token.content, replace(look, emphasis=look.emphasis | Emphasis.CODE))
        case "softbreak":
            return Run(" ", look)
        case "hardbreak":
            return HARD_BREAK
        case _:
            return make_run(token.content, look)
