"""A line with a tag begins what markdown-it-py says that it begins."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it.common.html_blocks import block_names
from markdown_it.rules_block.html_block import HTML_SEQUENCES

from roamtui.document.scanning.html_lines import match_html

_NAMES = [*block_names, "script", "pre", "style", "textarea", "span", "a", "x-y", "divx", "h7", "ſcript", "li\u212a"]
_PARTS = [
    *("<", "</", "<!", "<!--", "<?", "<![CDATA[", ">", "/>", "/", "-->", "?>", "]]>", " ", "\t", "\xa0", "\v"),
    *("=", "-", "a", "A1", "a=b", 'a="b"', "a='b c'", 'a="', ":x", "_", "é", "\0"),
]
_ENDINGS = [*_PARTS, "</script>", "</PRE>", "</ſtyle>", "</textarea >"]
_LINES = st.builds(
    lambda opening, name, rest: opening + name + "".join(rest),
    st.sampled_from(["<", "</", "<!", "<?", "< ", "", "<!--", "<![CDATA["]),
    st.sampled_from(_NAMES).flatmap(lambda name: st.sampled_from([name, name.upper(), name.title()])),
    st.lists(st.sampled_from(_PARTS), max_size=6),
)


@given(_LINES, st.lists(st.sampled_from(_ENDINGS), max_size=4).map("".join))
@example("<script/>", "")
@example("</pre>", "")
@example("<div/ >", "")
def test_it_begins_and_ends_where_the_parser_has_it(line: str, later: str) -> None:
    wanted = next((sequence for sequence in HTML_SEQUENCES if sequence[0].search(line)), None)
    found = match_html(line)
    assert (found is None) == (wanted is None)
    if found is None or wanted is None:
        return
    end, may_interrupt = found
    assert may_interrupt == wanted[2]
    assert (end is None) == bool(wanted[1].search(""))
    assert end is None or bool(end.search(later)) == bool(wanted[1].search(later))
