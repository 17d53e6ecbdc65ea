"""`PageMarkdown`: the simple HTML of `html_cleaning` as Markdown, in which only headings begin like headings."""

from __future__ import annotations

import re
from typing import Any

from bs4 import Tag
from markdownify import MarkdownConverter
from typing_extensions import override

from roamtui.sources.convert.escaping import escape_line_starts, escape_marks, write_code, write_heading

_BRACKETS = re.compile(r"[\[\]\\]")
_ESCAPE_FOUND = r"\\\g<0>"
_ESCAPED_BAR = r"\|"
_CONTEXTS = {
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6", "td"), frozenset({"_inline"})),
    **dict.fromkeys(("pre", "code", "kbd", "samp", "tt"), frozenset({"_noformat"})),
}
"""What the library's methods want to know of the elements around a text."""
_LINES = re.compile("^(?=.)", re.MULTILINE)


_CONVERTER: Any = MarkdownConverter  # its published types leave out what is overridden here


class PageMarkdown(_CONVERTER):  # type: ignore[misc]
    """Converts the simple HTML of a page."""

    class Options(_CONVERTER.DefaultOptions):  # type: ignore[misc]
        """Headings begin with ``#``; a line of the page's source has no meaning."""

        heading_style = "atx"
        bullets = "-"
        wrap = True
        wrap_width = None
        newline_style = "backslash"

    @override
    def process_tag(self, node: Tag, parent_tags: frozenset[str] | None = None) -> str:
        """Return an element as Markdown, at most one empty line between the blocks in it.

        The library's own looks up and down the page for each element; the simple HTML needs none of that.
        """
        name = node.name
        outer = parent_tags or frozenset()
        inner = outer | _CONTEXTS.get(name, frozenset()) | {name}
        parts: list[str] = []
        ends = 0
        for child in node.children:
            is_text = not isinstance(child, Tag)
            part = self.process_tag(child, inner) if isinstance(child, Tag) else self.process_text(str(child), inner)
            if not part:
                continue
            begins = 0 if is_text else len(part) - len(part.lstrip("\n"))
            if ends and begins:
                part = part[min(ends, begins) :]
            ends = 0 if is_text else len(part) - len(part.rstrip("\n"))
            parts.append(part)
        convert = self.get_conv_fn_cached(name)
        text = "".join(parts)
        return text if convert is None else str(convert(node, text, outer))

    @override
    def process_text(self, el: str, parent_tags: frozenset[str]) -> str:
        """Return a text, its blanks as they are: there are no needless ones."""
        return el if "_noformat" in parent_tags else self.escape(el, parent_tags)

    @override
    def escape(self, text: str, parent_tags: frozenset[str]) -> str:
        """Return a text with a backslash before what Markdown could take for marks."""
        return escape_marks(text)

    @override
    def convert_line(self, el: Tag, text: str, parent_tags: frozenset[str]) -> str:
        """Return a line of text as a paragraph, close to the list that it introduces."""
        lines = [line.strip() for line in text.strip().split("\n")]
        text = escape_line_starts("\n".join(lines))
        parent, following = getattr(el.parent, "name", ""), getattr(el.next_sibling, "name", "")
        if parent == "tr":
            return f" {text} |"
        if parent == "li" and following in ("ul", "ol"):
            return f"\n\n{text}\n"
        return f"\n\n{text}\n\n"

    @override
    def convert_hr(self, el: Tag, text: str, parent_tags: frozenset[str]) -> str:
        """Return a rule that is no front matter, nor the underline of a heading."""
        return "\n\n***\n\n"

    @override
    def convert_b(self, el: Tag, text: str, parent_tags: frozenset[str]) -> str:
        """Return strong text; strong text in it is no stronger."""
        if not {"b", "strong"}.isdisjoint(parent_tags):
            return text
        return str(super().convert_b(el, text, parent_tags))

    convert_strong = convert_b

    @override
    def convert_i(self, el: Tag, text: str, parent_tags: frozenset[str]) -> str:
        """Return emphasised text; emphasis in it is no stronger."""
        if not {"i", "em", "cite", "var"}.isdisjoint(parent_tags):
            return text
        return str(super().convert_em(el, text, parent_tags))

    convert_em = convert_cite = convert_var = convert_i

    @override
    def convert_tt(self, el: Tag, text: str, parent_tags: frozenset[str]) -> str:
        """Return code."""
        return str(self.convert_code(el, text, parent_tags))

    @override
    def convert_hN(self, n: int, el: Tag, text: str, parent_tags: frozenset[str]) -> str:
        """Return a heading, all of its text in it."""
        return f"\n\n{write_heading(n, text)}\n\n"

    @override
    def convert_li(self, el: Tag, text: str, parent_tags: frozenset[str]) -> str:
        """Return an item of a list."""
        text = text.strip()
        mark = f"{el.get('data-mark', '-')} "
        return mark + _LINES.sub(" " * len(mark), text)[len(mark) :] + "\n" if text else ""

    @override
    def convert_td(self, el: Tag, text: str, parent_tags: frozenset[str]) -> str:
        """Return a cell of a table."""
        return f" {' '.join(text.split()).replace('|', _ESCAPED_BAR)} |"

    @override
    def convert_tr(self, el: Tag, text: str, parent_tags: frozenset[str]) -> str:
        """Return a row of a table, the first with the rule that makes it one."""
        row = f"|{text}\n"
        if "data-head" in el.attrs:
            return row + "|" + " --- |" * int(str(el["data-head"])) + "\n"
        if "data-first" in el.attrs:
            columns = int(str(el["data-first"]))
            return "|" + " |" * columns + "\n|" + " --- |" * columns + "\n" + row
        return row

    @override
    def convert_pre(self, el: Tag, text: str, parent_tags: frozenset[str]) -> str:
        """Return a code block whose fence is longer than any in it."""
        text = text.strip("\n")
        if not text.strip():
            return ""
        return f"\n\n{write_code(text.rstrip(), str(el.get('data-language', '')))}\n\n"

    @override
    def convert_img(self, el: Tag, text: str, parent_tags: frozenset[str]) -> str:
        """Return an image with its words."""
        alt = str(el.get("alt", ""))
        return f"![{_BRACKETS.sub(_ESCAPE_FOUND, alt)}]({el.get('src', '')})"
