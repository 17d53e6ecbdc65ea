"""A web page into Markdown, from the characters that its bytes mean to what it says."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import Converted
from roamtui.sources.convert.html_markdown import write_markdown
from roamtui.sources.convert.html_tree import read_page
from roamtui.sources.decode import find_charset

_SHELL_LENGTH_MAX = 1_500
"""A page that says more than that says something."""
_SHELL = re.compile(
    r"enable javascript|javascript is (?:required|disabled|not enabled)|requires javascript|without javascript enabled"
    r"|checking your browser|checking if the site connection is secure|just a moment|verif(?:y|ying) (?:that )?you are"
    r"|are you (?:a )?(?:human|robot)|complete the (?:security check|captcha)|attention required|ddos protection by"
    r"|unsupported browser|^\W*loading\W*$",
    re.IGNORECASE,
)
_SHELL_HEADINGS_MAX = 2
_HEAD_LENGTH = 4_096
_CHARSET = re.compile(
    rb"""<(?:meta\s[^>]{0,200}?charset|\?xml\s[^>]{0,100}?encoding)\s*=\s*["']?([\w.:-]{1,40})""", re.I
)
_MARKED = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_FALLBACK = "cp1252"
"""What browsers take a page for that is no UTF-8 and says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedPage:
    """What a page says."""

    text: str
    """Markdown; empty where the page holds no text, or only one that asks for JavaScript or for a human."""
    title: str
    """What the page calls itself, empty where it does not; not part of the text unless it is a heading too."""


def convert_html(html: str, *, base_url: str | None = None) -> ConvertedPage:
    """Return the text of a page as Markdown.

    Its headings are the page's, of the same levels; code blocks keep their language, tables and lists their form,
    images their words. What stands around the text, and what a reader does not see, is left out.
    """
    root, title = read_page(html, base_url)
    text = write_markdown(root)
    if _is_shell(text, title):
        text = ""
    return ConvertedPage(text=text + "\n" if text else "", title=title)


def _is_shell(text: str, title: str) -> bool:
    """Return whether a page only stands before another: until JavaScript has run, or a person has proved to be one."""
    if len(text) > _SHELL_LENGTH_MAX or text.count("\n#") >= _SHELL_HEADINGS_MAX:
        return False
    return _SHELL.search(text) is not None or _SHELL.search(title) is not None


def convert_html_file(data: bytes, name: str) -> Converted:
    """Return a web page that was saved as Markdown."""
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
