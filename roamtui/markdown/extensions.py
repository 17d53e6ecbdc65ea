"""Blocks that dialects add: admonitions, tabs, definition lists and footnotes, by mdit-py-plugins.

Its rules can hide a heading (`[^1]: note` above an underline) and lose words (`~ 5 euros`). A text to which
they do this is parsed without them. References to footnotes are read by a rule that knows their place in the
source.
"""

import re
from collections.abc import Sequence
from functools import partial

from markdown_it import MarkdownIt
from markdown_it.parser_block import RuleFuncBlockType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.admon.index import admonition
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote.index import footnote_def

from roamtui.commonmark import limit_depth
from roamtui.markdown.containers import KINDS

_SIGN = re.compile(r"!!!|\?\?\?|===[+!]? \"|\[\^|^[ \t>]*:[ \t]", re.MULTILINE)
"""A text without any of these has no extensions."""
_ADMONITION = re.compile(
    r"(?:(?:!!!|\?\?\?\+?) ?(?P<kind>[A-Za-z]+)(?: inline(?: end)?)?(?!\S)|===[+!]? (?=\"))"
    r"[ \t]*(?P<title>.*)"
)
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,100}\]")
_WORD = re.compile(r"[^\W_]+|(?<!~)~(?!~)")


def enable_extensions(parser: MarkdownIt) -> None:
    """Add the rules of the extensions to a parser."""
    interrupted = ["paragraph", "reference", "blockquote"]
    ruler = parser.block.ruler
    deflist_plugin(parser)
    definitions = ruler.getRules("")[ruler.get_active_rules().index("deflist")]
    ruler.at("deflist", partial(limit_depth, partial(_read_definitions, definitions)), {"alt": interrupted})
    admonitions = partial(limit_depth, _read_admonition)
    ruler.before("fence", "admonition", admonitions, {"alt": [*interrupted, "list"]})
    ruler.before("reference", "footnote_def", partial(limit_depth, footnote_def), {"alt": interrupted[:2]})


def may_have_extensions(text: str) -> bool:
    """Return whether a text has a sign of an extension."""
    return _SIGN.search(text) is not None


def is_lossless(tokens: Sequence[Token], plain: Sequence[Token]) -> bool:
    """Return whether tokens have all headings outside containers, and all words, of the `plain` ones."""
    return _list_words(tokens) == _list_words(plain) and _list_headings(tokens) == _list_headings(plain)


def _list_headings(tokens: Sequence[Token]) -> list[list[int] | None]:
    return [token.map for token in tokens if token.type == "heading_open" and token.level == 0]


def _list_words(tokens: Sequence[Token]) -> list[str]:
    sources: list[str] = []
    opening = ""
    for token in tokens:
        # the line of an admonition is the info of its token, and contains its title
        is_content = opening != "admonition_title_open" and token.type != "admonition_open"
        sources += (token.info, token.meta.get("label", ""), token.content if is_content else "")
        opening = token.type
    return _WORD.findall("\n".join(sources))


def _read_definitions(rule: RuleFuncBlockType, state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - as the parser calls its rules
    """Read a list of definitions, whose first has a colon, not a tilde."""
    row = start if silent else start + 1
    if row < end and state.isEmpty(row):
        row += 1
    is_marked = row < end and state.src.startswith(":", state.bMarks[row] + state.tShift[row])
    return is_marked and rule(state, start, end, silent)


def _read_admonition(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - as above
    """Read an admonition of a known kind, or the tab `=== "Title"`, which is one to the plugin."""
    begin = state.bMarks[start] + state.tShift[start]
    match = _ADMONITION.fullmatch(state.src, begin, state.eMarks[start])
    if match is None or (match["kind"] and match["kind"].lower() not in KINDS):
        return False
    source = state.src
    index = len(state.tokens)
    if match["kind"] is None:
        mark = "!!!" if source[begin + 3] == " " else "???+"
        state.src = source[:begin] + mark + source[begin + len(mark) :]
    is_read = admonition(state, start, end, silent)
    state.src = source
    if is_read and not silent:
        added = state.tokens[index : index + 3]
        added[0].meta["tag"] = (match["kind"] or "tab").lower()
        # its title may be the title of the kind, or have the kind's options
        if added[1].type == "admonition_title_open":
            title = match["title"].strip()
            added[2].content = title[1:-1] if title[:1] == title[-1:] == '"' else title
    return is_read


def read_footnote(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Parse the mark of a footnote: `[^1]` leads to its note, `[^1]:` at the start of a note leads back."""
    # in a search for the end of a link, it is text
    match = None if silent else _FOOTNOTE.match(state.src, state.pos)
    if match is None:
        return False
    is_note = match.start() == 0 and state.src.startswith(":", match.end())
    token = state.push("mark", "", 0)
    token.content = format_mark(match[0])
    token.info = f"{match[0]}:" if is_note else match[0]
    token.meta["end"] = match.end()
    state.pos = match.end()
    return True


def format_mark(mark: str) -> str:
    """Return how the mark of a footnote is shown: `[^1]` as in an encyclopedia, names with their sign."""
    return mark.replace("^", "") if mark[2:-1].isdecimal() else mark
