"""Web pages as Markdown: headings, code, tables and lists, without navigation.

Pages made to be deep, wide or endless are converted in time by their length, or refused.
"""

import html
from collections.abc import Sequence
from functools import reduce
from operator import or_

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.convert.html import convert_html, convert_html_file
from roamtui.document.library import Library
from roamtui.document.links import SectionLink, resolve_link
from roamtui.document.parse import parse_document
from roamtui.errors import SourceError
from roamtui.markdown.blocks import Emphasis, Paragraph
from roamtui.markdown.inline import BLOCK_TAGS, EMPHASES
from roamtui.markdown.parser import parse_markdown
from roamtui.markdown.units import read_units
from tests.case_files import read_case, read_rows
from tests.convert.samples import read_outline

_BEGINNINGS = (
    "# ", "#", "###### x", "---", "===", "= ", "- ", "* ", "+ ", "1. ", "2) ", "> ", "```", "~~~ ", "    ", "\t",
    "<div>", "<!--", "<?x", "</p>", "[a]: b", "|-|", "***", "__", "_ _ _", "\\", "`", "&lt;", "a", "x ", "\n", "\r",
    "\u00a0", "\u2028",
)  # fmt: skip
_LONG = "Words that fill the page with text."
_SHORT = "Nice post!"
_MARKS = st.lists(st.sampled_from(_BEGINNINGS), max_size=5).map("".join)


def convert(source: str, base_url: str | None = None) -> str:
    return convert_html(source, base_url=base_url).text.rstrip("\n")


_KINDS = ("form", "raised", "fields", "code_in_cells", "formulas", "controls")


@pytest.mark.parametrize(("source", "expected"), [row for kind in _KINDS for row in read_rows("convert/html", kind)])
def test_a_page_keeps_its_words_and_their_form(source: str, expected: str) -> None:
    assert convert(source) == expected


def _draw_runs(names: str) -> st.SearchStrategy[list[tuple[str, list[str]]]]:
    words = ("a", "(b)", "c:", "10%", "税", "（込）", " ", "€", "* e", "~f", "g~", "\u200f", "<br>", "<sup>2</sup>")
    return st.lists(st.tuples(st.sampled_from(words), st.lists(st.sampled_from(names), unique=True)), max_size=6)


@given(_draw_runs("bs") | _draw_runs("is"))
def test_emphasis_is_shown_as_in_a_browser_and_its_signs_never(runs: Sequence[tuple[str, list[str]]]) -> None:
    expected: list[tuple[str, Emphasis]] = []
    page = ""
    for words, names in runs:
        page += "".join(f"<{name}>" for name in names) + words + "".join(f"</{name}>" for name in reversed(names))
        emphasis = reduce(or_, (EMPHASES[name] for name in names), Emphasis.NONE)
        shown = {"<br>": "", "<sup>2</sup>": "²"}.get(words, words)
        expected += [(letter, emphasis) for letter in shown if not letter.isspace()]
    blocks = parse_markdown(convert(f"<h1>In a page without headings, it might be one</h1><p>{page}</p>")).blocks
    shown_words = [words for block in blocks if isinstance(block, Paragraph) for words in block.words]
    letters = [(letter, words.emphasis) for words in shown_words for letter in words.text if not letter.isspace()]
    assert letters == expected


@pytest.mark.parametrize("name", sorted(set(EMPHASES).difference(BLOCK_TAGS)))
def test_an_element_has_the_same_emphasis_in_a_page_as_in_markdown(name: str) -> None:
    block = parse_markdown(convert(f"<h1>In a page</h1><p>a <{name}>word</{name}> b</p>")).blocks[1]
    assert isinstance(block, Paragraph)
    assert [(words.text, words.emphasis) for words in block.words][1] == ("word", EMPHASES[name])


_HIDING = ("hidden", 'style="display:none"', 'aria-hidden="true"', 'class="sr-only"', 'role="menu"')
_SHOWING = ("", "", 'class="copy"', 'style="display:inline-block"', 'aria-label="x"', 'id="menu"')
_NAMES = ("div", "ul", "li", "section", "span", "a", "label", "b", "code", "h2", "pre", "button", "nav", "i")
_LEAVES = (
    "<input type=checkbox>", "<input type=text value=5>", "<button></button>", "<img>", "<img alt=x>", "<svg></svg>",
    "<svg><input type=radio></svg>", "<select><option>x</select>", "<select><input type=checkbox></select>",
    "<math><mi>x</mi></math>", "<button><svg/></button>", "<footer><input type=radio></footer>", " ",
)  # fmt: skip
_PARTS = st.recursive(
    st.just("word") | st.sampled_from(_LEAVES),
    lambda parts: st.tuples(
        st.sampled_from(_NAMES), st.sampled_from(_HIDING + _SHOWING), st.lists(parts, min_size=1, max_size=4)
    ),
    max_leaves=12,
)


def _write_page(part: str | tuple[str, str, list[str]], words: list[bool], *, is_shown: bool) -> str:
    """Write a page. Add to `words` for each word whether a browser shows it."""
    if part == "word":
        words.append(is_shown)
        return f"w{len(words)}w"
    if isinstance(part, str):
        return part
    name, attribute, inner = part
    is_shown = is_shown and name not in ("nav", "button") and attribute not in _HIDING
    return f"<{name} {attribute}>{''.join(_write_page(each, words, is_shown=is_shown) for each in inner)}</{name}>"


@given(st.lists(_PARTS, max_size=4))
def test_any_page_opens_with_all_words_that_are_not_hidden(parts: Sequence[str | tuple[str, str, list[str]]]) -> None:
    words: list[bool] = []
    text = convert("".join(_write_page(part, words, is_shown=True) for part in parts))
    missing = [number for number, is_shown in enumerate(words, start=1) if is_shown and f"w{number}w" not in text]
    assert missing == []


_HEADINGS = (
    '<h2 id="s2">Fees due</h2>', '<h2><span id="s2">Fees due</span></h2>', '<a name="s2"></a><h2>Fees due</h2>',
    '<section id="s2"><h2>Fees due</h2><p>b</section>',
    '<h2>Fees due</h2><p id="s2">b', '<h2>Fees due<a id=s2></a></h2>',
)  # fmt: skip


@pytest.mark.parametrize("heading", _HEADINGS)
@pytest.mark.parametrize("base_url", [None, "https://e.org/page?a=1"])
def test_a_link_inside_a_page_leads_to_its_heading(heading: str, base_url: str | None) -> None:
    text = convert(
        f'<h1>T</h1><p>See <a href="#s2">this</a> and <a href="/#s2">that</a>.<h2>Other</h2>{heading}', base_url
    )
    assert text.count("{#") == text.count("## Fees due {#s2}") == 1
    (link,) = [link for link in parse_markdown(text).links if link.href.endswith("page?a=1#s2") or link.href == "#s2"]
    library = Library(source="a.html", root=parse_document(text, url=base_url))
    found = resolve_link(link.href, library, library.root.ids[0])
    assert isinstance(found, SectionLink)
    assert library.node(found.section_id).title.startswith("Fees due")


_CELLS = st.tuples(st.sampled_from(["one", "two 2", "3", "4", "", "long " * 50]), st.integers(0, 4), st.integers(0, 4))
_ROWS = st.lists(_CELLS, min_size=1, max_size=4).filter(lambda row: any(text for text, *_ in row))
"""In a page, a row without words of its own is not read. Markdown repeats in it the cells that span it from above."""


@given(st.lists(_ROWS, min_size=1, max_size=5))
def test_a_table_has_the_same_rows_in_a_page_as_in_markdown(rows: Sequence[Sequence[tuple[str, int, int]]]) -> None:
    page = "<table>\n<tr><th>A</th><th>B</th><th>C</th></tr>\n"
    for row in rows:
        cells = (f"<td colspan={columns} rowspan={count}>{text}</td>" for text, columns, count in row)
        page += f"<tr>{''.join(cells)}</tr>\n"
    page += "</table>\n"
    lines = [[unit.as_row.words for unit in read_units(text).units[1:]] for text in (page, convert(page))]
    assert lines[0] == lines[1]


@pytest.mark.parametrize("tabs", read_rows("convert/html", "tabs"))
def test_the_label_of_a_tab_is_a_line_above_its_panel(tabs: str) -> None:
    assert convert(f"<div>{tabs}</div>") == "**Card**\n\na\n\n**Cash**\n\nb"


def test_functions_and_classes_of_sphinx_are_sections() -> None:
    page = (
        '<h1>api</h1><dl class="py class"><dt class="sig sig-object py"><em>class</em> '
        '<span class="sig-prename">a.</span><span class="sig-name">B</span>(<em>x_y</em>)'
        '<a class="viewcode-link" href="#">[source]</a><a class="headerlink" href="#a.B">¶</a></dt>Beside.<dd><p>Words.'
        '<dl class="py method"><dt class="sig sig-object py"><code class="descname">run</code>()</dt>'
        '<dt class="sig sig-object py">run(1)</dt><dd>More.</dl></dl>'
    )
    assert convert(page) == "# api\n\n## class a.B(x_y)\n\nBeside.\n\nWords.\n\n### run()\n\n**run(1)**\n\nMore."


@pytest.mark.parametrize("code", read_rows("convert/html", "languages"))
def test_code_keeps_its_language(code: str) -> None:
    assert convert(code) == "```python\nx\n```"


def test_a_filing_without_headings_has_the_titles_that_a_reader_sees() -> None:
    assert read_outline(convert(read_case("filing.html"))) == [
        (2, "FORM 8-K"),
        (2, "CURRENT REPORT"),
        (2, "Registrant's telephone number"),
        (2, "Severance"),
    ]


def test_bold_lines_of_a_page_with_headings_are_no_titles() -> None:
    text = "<p>Words that are no title, and fill the page with text.</p>" * 3
    assert read_outline(convert(f"{text}<p><b>Fees</b></p>{text}")) == [(2, "Fees")]
    sheet = "<style>p.t { font-weight: 700 }</style>"
    assert read_outline(convert(f"{sheet}{text}<p class=t>Fees</p>{text}")) == [(2, "Fees")]
    assert read_outline(convert(f"<h1>Club</h1>{text}<p><b>Fees</b></p>{text}")) == [(1, "Club")]


def test_headings_stay_if_no_line_is_a_title() -> None:
    contents = '<h2><a href="#toc">Contents</a></h2>'
    assert read_outline(convert(f"{contents}<p>Plain</p>" * 3)) == [(2, "Contents")] * 3


def test_links_become_absolute_and_invalid_ones_text() -> None:
    page = (
        '<p><a href="../b c.html#(d)">A</a> <a href="javascript:x()">B</a> <a href="data:text/html,x">C</a> '
        '<a href="http://[bad">D</a> <img src="i.png" alt="E [f]"> <img src="data:image/png;base64,AA" alt="G">'
    )
    assert convert(page, "https://example.org/docs/x/y.html") == (
        "[A](https://example.org/docs/b%20c.html#%28d%29) B C D ![E [f]](https://example.org/docs/x/i.png) ![G]()"
    )


@pytest.mark.parametrize(("source", "expected"), read_rows("convert/html", "main"))
def test_the_main_part_holds_the_title_and_most_of_the_text(source: str, expected: str) -> None:
    text = convert(source.replace("LONG", _LONG).replace("SHORT", _SHORT))
    assert text.replace(_LONG, "LONG").replace(_SHORT, "SHORT").replace("\n\n", "|") == expected


@given(st.lists(_MARKS, min_size=6, max_size=6))
def test_no_text_becomes_a_heading_and_no_word_is_lost(texts: list[str]) -> None:
    a, b, c, d, e, f = (html.escape(text) for text in texts)
    page = (
        f"<h1>First</h1><p>{a}<br>{b}</p><ul><li>{c}<li>x</ul><div>{d}</div><h2>Second</h2><pre>{e}</pre>"
        f"<table><tr><td>{f}<td>{a}</table><blockquote>{b}</blockquote><code>{c}</code> {d}"
        f"<h2>x{e}</h2>{f}<h1>Last</h1>"
    )
    outline = read_outline(convert(page))
    assert [level for level, _ in outline] == [1, 2, 2, 1]
    assert (outline[0], outline[1], outline[3]) == ((1, "First"), (2, "Second"), (1, "Last"))
    letters = [letter for letter in convert(f"<p>{a}</p>") if letter in "ax"]
    assert letters == [letter for letter in texts[0] if letter in "ax"]


def test_the_charset_is_the_declared_one_or_what_browsers_assume() -> None:
    for start, charset in (("", "utf-8"), ("<meta charset=iso-8859-1>", "cp1252"), ("<meta charset=rot13>", "cp1252")):
        assert convert_html_file(f"{start}<p>Grüße".encode(charset), "page.html").text == "Grüße\n"
    damaged = "<meta charset=utf-8><p>Größe über Länge ".encode() + b"\xff"
    assert convert_html_file(damaged, "page.html").text == "Größe über Länge \ufffd\n"


_COUNT = 100_000
_PAGES = {
    **{f"nested {tag}": f"<{tag}>" * 500 + "x" for tag in ("div", "ul><li", "blockquote", "table><tr><td", "b")},
    "ends of nothing": "<div>" * 300 + "</p></div><div>" * _COUNT + "x",
    "open quotes": "x" + "<a b='" * _COUNT + '<a b="' * _COUNT,
    "a large attribute": f"<p class='{'a' * 5_000_000}'>x",
    "characters that XML has not": "<a href='&#xFFFE;&#1;'>x&#xFFFF;</a><img src='&#xFFFF;' alt='&#1;'><pre><br>&#1;",
    "references": "x&#1;&#" + "9" * 20_000 + ";" + "&#x" + "f" * 20_000,
    "spanned cells": "<table><tr>" + "<td colspan=1000000000>x" * 300,
    "spanned rows": f"<table><tr><td rowspan=99999 colspan=2>{'x' * 200}<td>" + "<tr><td>y" * 2_000,
    "tabs": "<div>" + "<p role=tablist><a role=tab>x</a></p><p role=tabpanel>y</p>" * 1_000,
    "buttons": "<div>" + "<button>x</button>" * 20_000,
    "signatures": "<dl>" + "<dt class=sig-object>x<dd>y" * 5_000,
}


@pytest.mark.parametrize("page", _PAGES.values(), ids=_PAGES)
def test_a_hostile_page_is_converted(page: str) -> None:
    assert len(convert_html(page).text) < 3 * len(page) + 100


@pytest.mark.parametrize(("control", "word"), read_rows("convert/html", "control_characters"))
def test_control_characters_are_left_out_wherever_they_stand(control: str, word: str) -> None:
    text = f"a{control}b"
    drawn = f"<select><option>{text}</select><svg><text>{text}</text></svg>"
    page = f"<p><b>{text}</b></p><p>{text}{drawn}<table><tr><td>{text}<td>{text}</table>"
    assert convert(page).split("\n\n")[0] == f"**{word}**"
    assert control not in convert(page)


def test_a_page_that_is_nested_without_end_is_refused_in_one_sentence() -> None:
    with pytest.raises(SourceError, match="page: The page has too many elements inside each other"):
        convert_html_file(b"<div>x" * _COUNT, "page")
    page = "".join(f"<div>w{number} " for number in range(400))
    assert set(convert_html(page).text.split()) >= {f"w{number}" for number in range(399)}
