"""A web page into Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass

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

    Args:
        html: Any HTML, however broken; the time that it takes grows with its length alone.
        base_url: Address of the page, to make links absolute; without it they stay as they are.
    """
    from bs4 import BeautifulSoup  # noqa: PLC0415 - takes 50 ms

    from roamtui.sources.convert.html_cleaning import clean_page  # noqa: PLC0415
    from roamtui.sources.convert.html_markdown import PageMarkdown  # noqa: PLC0415 - imports the above

    page = clean_page(html, base_url)
    text = PageMarkdown().convert_soup(BeautifulSoup(f"<body>{page.body}</body>", "html.parser")).strip()
    if _is_shell(text, page.title):
        text = ""
    return ConvertedPage(text=text + "\n" if text else "", title=page.title)


def _is_shell(text: str, title: str) -> bool:
    """Return whether a page only stands before another: until JavaScript has run, or a person has proved to be one."""
    if len(text) > _SHELL_LENGTH_MAX or text.count("\n#") >= _SHELL_HEADINGS_MAX:
        return False
    return _SHELL.search(text) is not None or _SHELL.search(title) is not None
