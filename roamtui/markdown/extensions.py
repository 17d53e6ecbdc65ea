"""Definition lists and footnotes, which dialects add to Markdown. mdit-py-plugins parses them.

Its rules can hide a heading (`[^1]: note` above an underline) and lose words (`~ 5 euros`). If they would do
so, a text is parsed without them. References to footnotes have a rule of ours, which knows their place in the
source.
"""

import re
from collections.abc import Sequence
from functools import partial
from itertools import chain

from markdown_it import MarkdownIt
from markdown_it.parser_block import RuleFuncBlockType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote.index import footnote_def

from roamtui.commonmark import limit_depth, list_heading_rows

_SIGN = re.compile(r"\[\^|^[ \t>]*:[ \t]", re.MULTILINE)
"""A text without any of these signs has no extensions."""
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,100}\]")
_WORD = re.compile(r"[^\W_]+|(?<!~)~(?!~)")


def enable_extensions(parser: MarkdownIt) -> None:
    """Add the rules of the extensions to a parser."""
    interrupted = ["paragraph", "reference", "blockquote"]
    ruler = parser.block.ruler
    deflist_plugin(parser)
    definitions = ruler.getRules("")[ruler.get_active_rules().index("deflist")]
    ruler.at("deflist", partial(limit_depth, partial(_read_definitions, definitions)), {"alt": interrupted})
    ruler.before("reference", "footnote_def", partial(limit_depth, footnote_def), {"alt": interrupted[:2]})


def may_have_extensions(text: str) -> bool:
    """Return whether a text has a sign of an extension."""
    return _SIGN.search(text) is not None


def is_lossless(tokens: Sequence[Token], plain: Sequence[Token]) -> bool:
    """Return whether tokens have all words of the `plain` tokens, and all headings outside containers."""
    has_words = _list_words(tokens) == _list_words(plain)
    return has_words and list_heading_rows(tokens) == list_heading_rows(plain)


def _list_words(tokens: Sequence[Token]) -> list[str]:
    sources = ((token.info, token.meta.get("label", ""), token.content) for token in tokens)
    return _WORD.findall("\n".join(chain.from_iterable(sources)))


def _read_definitions(rule: RuleFuncBlockType, state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - as the parser calls its rules
    """Read a list of definitions if its first definition begins with a colon, not a tilde."""
    row = start if silent else start + 1
    if row < end and state.isEmpty(row):
        row += 1
    is_marked = row < end and state.src.startswith(":", state.bMarks[row] + state.tShift[row])
    return is_marked and rule(state, start, end, silent)


def read_footnote(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Parse the mark of a footnote: `[^1]` leads to its note, `[^1]:` at the start of a note leads back."""
    # while the parser looks for the end of a link, a mark is text
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
    """Return how the mark of a footnote is shown: `[^1]` becomes `[1]`, and names keep the sign."""
    return mark.replace("^", "") if mark[2:-1].isdecimal() else mark
