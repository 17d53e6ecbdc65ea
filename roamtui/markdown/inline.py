"""The names of HTML elements, and the words of a piece of Markdown."""

import re

from roamtui.markdown.blocks import Emphasis
from roamtui.markdown.formulas import write_plain_script
from roamtui.sanitiser import sanitise_line

EMPHASES = (
    dict.fromkeys(("strong", "b", "dt", "summary", "h1", "h2", "h3", "h4", "h5", "h6"), Emphasis.STRONG)
    | dict.fromkeys(("em", "i", "cite", "dfn", "var"), Emphasis.ITALIC)
    | dict.fromkeys(("s", "del", "strike"), Emphasis.STRUCK)
    | dict.fromkeys(("code", "kbd", "samp", "tt"), Emphasis.CODE)
)
HIDDEN_TAGS = frozenset({"script", "style", "template", "svg", "noscript", "iframe"})
"""Elements whose text is not meant to be read."""
_BLOCK_NAMES = """
address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer
form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody td tfoot th thead tr ul
"""
BLOCK_TAGS = frozenset(_BLOCK_NAMES.split())
"""Elements whose tags separate paragraphs."""
_OTHER_NAMES = """
a abbr acronym audio bdi bdo big br col colgroup font head img input ins mark nobr picture q rb rp rt ruby
small span sub sup u video wbr
"""
HTML_ELEMENTS = BLOCK_TAGS.union(EMPHASES, HIDDEN_TAGS, _OTHER_NAMES.split())
"""Elements of HTML. Other words in angle brackets are text."""
_MARKUP = re.compile(r"[\\<\[*_`|#>~]|^[ \t]*[-+:=]", re.MULTILINE)
_HIDDEN = re.compile(
    r"<!--.*?(?:-->|\Z)|^[ \t]*(?:`{3}|~{3}|:{3}|[|=_~*+ \t:-]+$)[^\n]*", re.DOTALL | re.MULTILINE
)
"""Comments, and lines of rules and fences."""
_IMAGE = re.compile(r"!\[[^\[\]]*\](?:\([^()\n]*(?:\)|\Z)|\[[^\[\]\n]*\])")
_LINK = re.compile(r"\[([^\[\]]*)\](?:\([^()\n]*(?:\)|\Z)|\[[^\[\]\n]*\])")
_SCRIPT = re.compile(r"<(sup|sub)>([^<>\n]*)</\1>", re.IGNORECASE)
_TAG = re.compile(r"</?([A-Za-z][\w-]*)(?:\s[^<>]*)?/?(?:>|\Z)")
_LINE_MARKS = re.compile(r"^[ \t]*(?:(?:[-*+>]|#{1,6}|\d{1,9}[.)])[ \t]+|\|)+", re.MULTILINE)
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_SIGNS = re.compile(r"(?<![\d*])\*+(?=[^\s*])|(?<=[^\s*])\*+(?![\d*])|__+|`+|~~|(?<!\w)_|_(?!\w)")
"""Signs of emphasis. A star between two digits belongs to a number, even if Markdown could hide it."""
_CODE_SPAN = re.compile(r"(?<![\\`])(`+)(?!`)([^\n]+?)(?<!`)\1(?!`)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SHIELDED = "!#()*+-.:<=>[\\]_`|~"
_SHIELD = {ord(sign): 0xFDD0 + number for number, sign in enumerate(_SHIELDED)}
"""Replaces signs in code and after a backslash, which are not markup, by noncharacters of Unicode."""
_UNSHIELD = {code: sign for sign, code in _SHIELD.items()}


def extract_words(text: str) -> str:
    """Return the words of a piece of Markdown on one line. Leave out images, rules and HTML tags.

    Words in code stay as they are. This uses patterns: a text of 50 MB without headings has 250,000 titles,
    and parsing all of them takes a minute.
    """
    if _MARKUP.search(text):
        text = _CODE_SPAN.sub(lambda match: match[2].translate(_SHIELD), text)
        text = _ESCAPED.sub(lambda match: match[1].translate(_SHIELD), text)
        text = _LINK.sub(r"\1", _IMAGE.sub("", _HIDDEN.sub("", text)))
        text = _SCRIPT.sub(lambda match: write_plain_script(match[2], match[1].lower()), text)
        text = _LINE_MARKS.sub("", _TAG.sub(_replace_tag, text))
        text = _SIGNS.sub("", _CELL_BORDER.sub(" ", text)).translate(_UNSHIELD)
    return sanitise_line(text)


def _replace_tag(match: re.Match[str]) -> str:
    """Return what stands between the words around a tag. Other words in angle brackets stay."""
    name = match[1].lower()
    if name not in HTML_ELEMENTS:
        return match[0]
    return " " if name in ("br", "img") or name in BLOCK_TAGS else ""
