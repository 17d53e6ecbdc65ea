"""A file of HTML into Markdown: what its bytes mean, then what the page says."""

from __future__ import annotations

import codecs
import re

from roamtui.errors import SourceError
from roamtui.sources.charsets import find_charset
from roamtui.sources.convert.converted import Converted
from roamtui.sources.convert.html import convert_html

_HEAD_LENGTH = 4_096
_CHARSET = re.compile(
    rb"""<(?:meta\s[^>]{0,200}?charset|\?xml\s[^>]{0,100}?encoding)\s*=\s*["']?([\w.:-]{1,40})""", re.I
)
_MARKED = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_FALLBACK = "cp1252"
"""What browsers take a page for that is no UTF-8 and says nothing."""


def convert_html_file(data: bytes, name: str) -> Converted:
    """Return a web page that was saved as Markdown.

    Raises:
        SourceError: It holds no text.
    """
    text, notes = decode_html(data)
    page = convert_html(text)
    if not page.text:
        raise SourceError(f"{name} is a web page that holds no text without JavaScript. Save it from a browser.")
    return Converted(text=page.text, title=page.title, notes=notes)


def decode_html(data: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the characters of a page, as it says itself or as browsers guess, and notes on what was replaced."""
    for mark, encoding in _MARKED:
        if data.startswith(mark):
            return _replace(data[len(mark) :], encoding)
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError:
        pass
    told = _CHARSET.search(data[:_HEAD_LENGTH])
    return _replace(data, _check_encoding(told[1].decode("ascii")) if told else _FALLBACK)


def _check_encoding(name: str) -> str:
    """Return the encoding that a page names, else the one that browsers guess."""
    found = find_charset(name)
    if found is None or found in {"utf-8", "ascii", "iso8859-1"} or found.startswith("utf-16"):
        return _FALLBACK
    return found


def _replace(data: bytes, encoding: str) -> tuple[str, tuple[str, ...]]:
    text = data.decode(encoding, "replace")
    replaced = text.count("\N{REPLACEMENT CHARACTER}")
    if not replaced:
        return text, ()
    return text, (f"{replaced} characters could not be read and show as \N{REPLACEMENT CHARACTER}.",)
