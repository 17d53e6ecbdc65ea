"""Web pages as Markdown: headings, code, tables and lists, without navigation.

Pages made to be deep, wide or endless are converted in time by their length, or refused.
"""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.errors import SourceError
from roamtui.sources.convert.html import convert_html, convert_html_file
from tests.sources.convert.samples import read_outline

_BEGINNINGS = (
    "# ", "#", "###### x", "---", "===", "= ", "- ", "* ", "+ ", "1. ", "2) ", "> ", "```", "~~~ ", "    ", "\t",
    "<div>", "<!--", "<?x", "</p>", "[a]: b", "|-|", "***", "__", "_ _ _", "\\", "`", "&lt;", "a", "x ", "\n", "\r",
    "\u00a0", "\u2028",
)  # fmt: skip
_MARKS = st.lists(st.sampled_from(_BEGINNINGS), max_size=5).map("".join)


def convert(source: str, base_url: str | None = None) -> str:
    return convert_html(source, base_url=base_url).text.rstrip("\n")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('<h2>Name<a class="headerlink" href="#x">¶</a></h2>', "## Name"),
        ('<h2><a class="anchor" aria-hidden="true" href="/page#x"><svg><path/></svg></a>Name</h2>', "## Name"),
        ('<a href="/x"><h2>A</h2><p>b</p></a><p>c', "## A\n\n[b](/x)\n\nc"),
        ('<pre><code class="language-rust">a  b\n\n\n# c</code></pre>', "```rust\na  b\n\n\n# c\n```"),
        ("<pre>a<br><div>b</div><div>c</div></pre>", "```\na\nb\nc\n```"),
        ('<table class="x"><tr><td class="linenos"><pre>1</pre><td><pre>a\nb</pre></table>', "```\na\nb\n```"),
        ("<table><tr><th>A<th>B<tr><td>1|2<td><p>x<p>y</table>", "| A | B |\n| --- | --- |\n| 1\\|2 | x y |"),
        ("<table><tr><td colspan=2>a<tr><td rowspan=2>b<td>c<tr><td>d</table>",
         "| | |\n| --- | --- |\n| a |  |\n| b | c |\n| b | d |"),
        (
            "<table><tr><td colspan=3>Contact:<td colspan=2>Ann<tr><td colspan=3>Place:<td colspan=2>Rome<td></table>",
            "| | |\n| --- | --- |\n| Contact: | Ann |\n| Place: | Rome |",
        ),
        ("<table><tr><th>x<th colspan=2>2024<tr><td>a<td>1<td>2</table>",
         "| x | 2024 | 2024 |\n| --- | --- | --- |\n| a | 1 | 2 |"),
        ("<ul><li>a<li>b<ul><li>c</ul><li><p>d<p>e</ul>", "- a\n- b\n\n  - c\n- d\n\n  e"),
        ("<ol start=3><li>a<li>b</ol>", "3. a\n4. b"),
        ("<ul>a<li>b<ol><li>c</ol>d</ul>", "a\n- b\n\n  1. c\n\n  d"),
        ("<ul><li>a<li><h3>One</h3>b<li>c</ul>", "a\n\n### One\n\nb\n\nc"),
        ("<dl><dt>a<dd>b<dt>c<dd>d</dl>", "**a**\n\nb\n\n**c**\n\nd"),
        ("<p>a<br>b <b>c</b> <i><em>d</em></i><hr>e", "a\\\nb **c** *d*\n\n***\n\ne"),
        ("<p>a<script>if (1 < 2) x()</script> b<!-- c --><style>d</style>", "a b"),
        ('<p hidden>x</p><i style="display : none">x</i><i class="sr-only">x</i><p style="opacity:0.5">a', "a"),
    ],
)  # fmt: skip
def test_a_page_keeps_its_form(source: str, expected: str) -> None:
    assert convert(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p>50<sup>3</sup> million, H<sub>2</sub>O, the 4<sup>th</sup>", "50<sup>3</sup> million, H2O, the 4th"),
        ('<p>in 2024<sup><a href="#n">12</a></sup>', "in 2024[<sup>12</sup>](#n)"),
        ('<p>in 2024<sup id="r"><a href="#n">[1]</a></sup>', "in 2024[<sup>[1]</sup>](#n)"),
        ('<p>5<span style="vertical-align: super">a</span> 6<sup></sup> Name<sup>®</sup>', "5<sup>a</sup> 6 Name®"),
        ("<p><math><msup><mn>50</mn><mn>3</mn></msup><mo>+</mo><mfrac><mi>a</mi><mi>b</mi></mfrac></math>", "50^3+a/b"),
        ("<table><tr><th>2022<sup>1</sup><th>2023</table>", "| 2022<sup>1</sup> | 2023 |\n| --- | --- |"),
    ],
)
def test_a_raised_figure_never_joins_a_number(source: str, expected: str) -> None:
    assert convert(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('<h3><button aria-controls="s">Why?</button></h3><div id="s" hidden><p>So.</div>', "### Why?\n\nSo."),
        ('<div hidden="until-found"><p>found</div>', "found"),
        ("<button>How do I get a copy of it?</button><button>Copy code</button>", "How do I get a copy of it?"),
        ('<dl class="accordion"><dt>Bikes<dd style="display:none">7 euros</dl>', "**Bikes**\n\n7 euros"),
        ('<div class="tab-pane" style="display: none">late</div>', "late"),
        ('<div class="panel" aria-hidden="true">a<i class="icon" aria-hidden="true">x</i></div>', "a"),
        ("<details><summary>More</summary><p>text</details>", "More\n\ntext"),
        ("<p>one</p></body></html><div>two</div><html><body><p>three", "one\n\ntwo\n\nthree"),
        ("<blockquote><p>said<footer>by me</footer></blockquote><footer>imprint</footer>", "> said\n>\n> by me"),
        ("<p>Press <button>Save</button> to store, or <button>Quit</button><button>Stop</button>",
         "Press Save to store, or Quit Stop"),
        ("<div><button>Copy code</button><pre>a</pre><button>Run</button></div><button>☰</button>", "```\na\n```"),
        ("<p>Choose <select><option>Slow<option selected>Fast</select>.", "Choose Fast."),
        ('<div style="display:none">planted</div><p aria-hidden="true">x</p><p hidden id="s">y</p>', ""),
    ],
)  # fmt: skip
def test_what_a_control_opens_is_text(source: str, expected: str) -> None:
    assert convert(source) == expected


@pytest.mark.parametrize(
    "tabs",
    [
        (
            '<ul role="tablist"><li role="tab">Card<li role="tab">Cash</ul><div role="tabpanel">a</div>'
            '<div role="tabpanel" hidden>b</div>'
        ),
        (
            '<div role="tablist"><a role="tab" href="#1">Card</a><a role="tab" href="#2">Cash</a></div>'
            '<div><div id="1">a</div><div id="2" style="display:none">b</div></div>'
        ),
        (
            '<div class="tabbed-labels"><label>Card</label><label>Cash</label></div>'
            '<div class="tabbed-content"><div class="tabbed-block">a</div><div class="tabbed-block">b</div></div>'
        ),
        '<label class="sd-tab-label">Card</label><div>a</div><label class="sd-tab-label">Cash</label><div>b</div>',
    ],
)
def test_the_label_of_a_tab_is_a_line_above_its_panel(tabs: str) -> None:
    assert convert(f"<div>{tabs}</div>") == "**Card**\n\na\n\n**Cash**\n\nb"


def test_functions_and_classes_of_sphinx_are_sections() -> None:
    page = (
        '<h1>api</h1><dl class="py class"><dt class="sig sig-object py"><em>class</em> '
        '<span class="sig-prename">a.</span>'
        '<span class="sig-name">B</span>(<em>x_y</em>)<a class="viewcode-link" href="#">[source]</a>'
        '<a class="headerlink" href="#a.B">¶</a></dt><dd><p>Words.<dl class="py method"><dt class="sig sig-object py">'
        '<code class="descname">run</code>()</dt><dt class="sig sig-object py">run(1)</dt><dd>More.</dl></dl>'
    )
    assert convert(page) == "# api\n\n## class a.B(x_y)\n\nWords.\n\n### run()\n\n**run(1)**\n\nMore."
    long = f'<dl><dt class="sig-object"><span class="sig-name">f</span>({"a, " * 99})</dt></dl>'
    assert convert(long).startswith("# f\n\n**f(a, a,")


@pytest.mark.parametrize(
    "code",
    [
        '<div class="highlight-python notranslate"><table><tr><td class="code"><div><pre>x</pre></div></table></div>',
        '<pre class="sourceCode python"><code>x</code></pre>',
        '<pre><code class="hljs python">x</code></pre>',
        '<pre class="brush: python; toolbar: false">x</pre>',
        '<figure data-lang="python"><pre><code>x</code></pre></figure>',
        '<pre lang="python">x</pre>',
    ],
)
def test_code_keeps_its_language(code: str) -> None:
    assert convert(code) == "```python\nx\n```"


def test_words_with_readings_stay_together() -> None:
    assert convert("<p>が<ruby>表<rp>(</rp><rt>ひょう</rt><rp>)</rp>示<rt>じ</rt></ruby>され") == "が表示(ひょうじ)され"


def test_links_become_absolute_and_invalid_ones_text() -> None:
    page = (
        '<p><a href="../b c.html#(d)">A</a> <a href="javascript:x()">B</a> <a href="data:text/html,x">C</a> '
        '<a href="http://[bad">D</a> <img src="i.png" alt="E [f]"> <img src="data:image/png;base64,AA" alt="G">'
    )
    assert convert(page, "https://example.org/docs/x/y.html") == (
        "[A](https://example.org/docs/b%20c.html#%28d%29) B C D ![E \\[f\\]](https://example.org/docs/x/i.png) ![G]()"
    )


@pytest.mark.parametrize("tag", ["main", "div role=main", "article"])
def test_the_main_part_has_the_heading_above_it_and_no_navigation(tag: str) -> None:
    page = "<title>T &amp; U</title><header><nav><a href=/>Home</a></nav><h1>Page</h1></header><p>by someone</p>"
    page += f"<{tag}><p>text<aside>note</aside><footer>f</footer></{tag.split(maxsplit=1)[0]}><p>more to read"
    converted = convert_html(page)
    assert (converted.title, converted.text) == ("T & U", "# Page\n\ntext\n\nnote\n")


def test_a_page_that_waits_for_javascript_or_a_captcha_has_no_text() -> None:
    assert convert("<title>Just a moment...</title><h1>example.org</h1><p>Checking your browser.</p>") == ""
    assert convert("<p>You need to enable JavaScript to run this app.</p>") == ""


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
    "tabs": "<div>" + "<p role=tablist><a role=tab>x</a></p><p role=tabpanel>y</p>" * 5_000,
    "buttons": "<div>" + "<button>x</button>" * 20_000,
    "signatures": "<dl>" + "<dt class=sig-object>x<dd>y" * 5_000,
}


@pytest.mark.parametrize("page", _PAGES.values(), ids=_PAGES)
def test_a_hostile_page_is_converted(page: str) -> None:
    assert len(convert_html(page).text) < 3 * len(page) + 100


def test_a_page_that_is_nested_without_end_is_refused_in_one_sentence() -> None:
    with pytest.raises(SourceError, match="too many elements inside each other"):
        convert_html("<div>x" * _COUNT)
    page = "".join(f"<div>w{number} " for number in range(400))
    assert set(convert_html(page).text.split()) >= {f"w{number}" for number in range(399)}
