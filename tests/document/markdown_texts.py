"""Random text that looks enough like Markdown to meet every rule about headings."""

from __future__ import annotations

from hypothesis import strategies as st

_BLOCKS = (
    "# One", "## Two", "### Three", "###### Six", "####### seven", "#", "## ##", "#no space", "   # indented",
    "    # code", "\t# tab", "# `code` and *marks* \\# #", "# \u00a0", "Title\n===", "Title\nof two\n---", "---",
    "===", "***", "...", "title: x", "", "text", "  more", "```", "~~~~", "```py `x`", "> # quoted", ">", "> - <?php",
    "- # item", "- item", "  # in item", "1. one", "   - two", "10) ten", "<!--", "-->", "<div>", "</div>", "<pre>",
    "</pre>", "<?php", "?>", "<![CDATA[", "]]>", "| a | b |\n|---|---|", "[ref]: https://example.invalid",
    "# [ref] and [text](x)", "\f# no line end", "a\u2028# nor here", "# nul \0",
)  # fmt: skip
_LINE_ENDS = ("\n", "\n", "\n", "\n\n", "\r\n", "\r")


@st.composite
def markdown_texts(draw: st.DrawFn, blocks_max: int = 25) -> str:
    """Blocks of every kind and short random text, joined by every kind of line end."""
    block = st.sampled_from(_BLOCKS) | st.text(max_size=8)
    blocks = draw(st.lists(st.tuples(block, st.sampled_from(_LINE_ENDS)), max_size=blocks_max))
    text = "".join(part for pair in blocks for part in pair)
    return text if draw(st.booleans()) else text.rstrip("\r\n")
