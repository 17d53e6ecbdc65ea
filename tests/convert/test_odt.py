"""OpenDocument texts as Markdown: raised figures, numbers of headings and lists, readings, and what is hidden."""

import pytest

from roamtui.convert.converted import ConvertedText
from roamtui.convert.odt import convert_odt
from tests.case_files import read_rows
from tests.convert.samples import pack, read_outline

_NAMESPACES = " ".join(f'xmlns:{prefix}="{prefix}"' for prefix in ("office", "text", "style", "fo", "draw", "form"))


_TWO = "<text:p>two</text:p>"


def _convert(body: str, *, automatic: str = "", common: str = "") -> str:
    return _convert_whole(body, automatic=automatic, common=common).text


def _convert_whole(body: str, *, automatic: str = "", common: str = "") -> ConvertedText:
    content = (
        f"<office:document-content {_NAMESPACES}><office:automatic-styles>{automatic}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    styles = f"<office:document-styles {_NAMESPACES}><office:styles>{common}</office:styles></office:document-styles>"
    return convert_odt(pack({"content.xml": content, "styles.xml": styles}), "a.odt")


def _style(name: str, properties: str, *, family: str = "text", parent: str = "") -> str:
    head = f'style:name="{name}" style:family="{family}" style:parent-style-name="{parent}"'
    return f"<style:style {head}><style:text-properties {properties}/></style:style>"


def _level(number: int, kind: str, *, suffix: str = ".", start: int = 1, shown: int = 1) -> str:
    return (
        f'<text:list-level-style-number text:level="{number}" style:num-format="{kind}" style:num-suffix="{suffix}" '
        f'text:display-levels="{shown}" text:start-value="{start}"/>'
    )


def test_a_paragraph_in_the_style_of_a_heading_is_one() -> None:
    body = '<text:p text:style-name="P1">Fees</text:p><text:p text:style-name="Heading_20_x">Five euros</text:p>'
    styles = _style("P1", "", family="paragraph", parent="Heading_20_2")
    assert _convert(body, automatic=styles) == "## Fees\n\nFive euros\n"


@pytest.mark.parametrize(("position", "text"), read_rows("convert/odt", "raised"))
def test_raised_and_lowered_type_never_joins_a_number(position: str, text: str) -> None:
    # The style that is inherited from is listed later.
    styles = _style("T1", "", parent="T2") + _style("T2", f'style:text-position="{position}"')
    body = '<text:p>50<text:span text:style-name="T1">3</text:span> tons</text:p>'
    assert _convert(body, automatic=styles) == text + "\n"


def _cell(text: str, count: int = 1) -> str:
    return f'<t:table-cell t:number-columns-repeated="{count}"><text:p>{text}</text:p></t:table-cell>'


def test_a_repeated_cell_stands_in_each_of_its_columns() -> None:
    rows = (_cell("A") + _cell("B") + _cell("C"), _cell("", 2) + _cell("7"), _cell("5", 2) + _cell("6"))
    written = "".join(f"<t:table-row>{row}</t:table-row>" for row in rows)
    text = _convert(f'<t:table xmlns:t="t">{written}</t:table>')
    assert text.endswith("\n| A | B | C |\n|  |  | 7 |\n| 5 | 5 | 6 |\n")


def test_a_repeated_row_is_as_many_rows() -> None:
    rows = f'<t:table-row t:number-rows-repeated="2">{_cell("0", 3)}</t:table-row><t:table-row>{_cell("7", 3)}'
    text = _convert(f'<t:table xmlns:t="t">{rows}</t:table-row></t:table>')
    assert text.endswith("|\n| 0 | 0 | 0 |\n| 0 | 0 | 0 |\n| 7 | 7 | 7 |\n")
    empty = f'<t:table-row t:number-rows-repeated="1000000">{_cell("", 1_000_000)}</t:table-row>'
    assert len(_convert(f'<t:table xmlns:t="t">{rows}</t:table-row>{empty}</t:table>')) < 10_000


def test_what_is_struck_out_is_marked() -> None:
    style = _style("T1", 'style:text-line-through-style="solid"')
    body = '<text:p>It costs <text:span text:style-name="T1">9</text:span> 7 euros</text:p>'
    assert _convert(body, automatic=style) == "It costs ~~9~~ 7 euros\n"


def test_letters_of_a_font_that_draws_signs_are_signs() -> None:
    style = _style("T1", 'style:font-name="Symbol"') + _style("T2", "")
    inner = '<text:span text:style-name="T2">m</text:span>'
    body = f'<text:p>5 <text:span text:style-name="T1">\uf06d{inner}</text:span>m</text:p>'
    assert _convert(body, automatic=style) == "5 μμm\n"


def test_paragraphs_in_a_paragraph_never_join_their_numbers() -> None:
    body = "<text:p>1<text:p>22<text:p>3</text:p>3</text:p>22</text:p>"
    assert _convert(body).replace("\\", "").split() == ["1", "22", "3", "3", "22"]


@pytest.mark.parametrize("href", ["./Object 1", "Formula-0/"])
def test_a_formula_is_found_in_whatever_form_its_place_is_written(href: str) -> None:
    body = f'<text:p>It is <draw:frame><draw:object draw:href="{href}"/></draw:frame>.</text:p>'
    content = f"<content {_NAMESPACES}><office:body><office:text>{body}</office:text></office:body></content>"
    formula = "<math><msup><mi>r</mi><mn>2</mn></msup></math>"
    part = href.removeprefix("./").removesuffix("/")
    parts = {"content.xml": content, f"{part}/content.xml": formula}
    assert convert_odt(pack(parts), "a.odt").text == "It is r².\n"


def test_a_formula_may_be_in_the_text_itself() -> None:
    formula = '<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>a</mi><mo>=</mo><mn>5</mn></math>'
    assert _convert(f"<text:p><draw:frame><draw:object>{formula}</draw:object></draw:frame></text:p>") == "a=5\n"


@pytest.mark.parametrize("suffix", [".", ")"])
def test_a_cell_may_have_only_its_number(suffix: str) -> None:
    style = f'<text:list-style style:name="L1">{_level(1, "1", suffix=suffix)}</text:list-style>'
    number = '<text:list text:style-name="L1"><text:list-item><text:p/></text:list-item></text:list>'
    row = f"<t:table-row><t:table-cell>{number}</t:table-cell>{_cell('a')}</t:table-row>"
    assert f"\n| 1{suffix} | a |\n" in _convert(f'<t:table xmlns:t="t">{row}</t:table>', automatic=style)


def test_headings_have_their_numbers() -> None:
    outline = "".join(
        f'<text:outline-level-style text:level="{level}" style:num-format="1" text:display-levels="{level}"/>'
        for level in (1, 2)
    )
    body = "".join(
        f'<text:h text:outline-level="{level}">{title}</text:h>'
        for level, title in ((1, "Fees"), (2, "Late fees"), (2, "Deposits"), (1, "Berths"))
    )
    body += '<text:h text:outline-level="1" text:is-list-header="true">Annex</text:h>'
    text = _convert(body, common=f"<text:outline-style>{outline}</text:outline-style>")
    assert read_outline(text) == [
        *((1, "1 Fees"), (2, "1.1 Late fees"), (2, "1.2 Deposits")),
        *((1, "2 Berths"), (1, "Annex")),
    ]


def test_lists_have_their_numbers() -> None:
    lists = (
        f'<text:list-style style:name="L1">{_level(1, "1")}{_level(2, "a", suffix=")")}</text:list-style>'
        f'<text:list-style style:name="L2">{_level(1, "I", start=4)}</text:list-style>'
    )
    inner = "<text:list><text:list-item><text:p>inner</text:p></text:list-item></text:list>"
    items = "".join(f"<text:list-item>{item}</text:list-item>" for item in (f"<text:p>one</text:p>{inner}", _TWO))
    more = "<text:list-item><text:p>three</text:p></text:list-item>"
    body = (
        f'<text:list text:style-name="L1">{items}</text:list><text:p>Between.</text:p>'
        f'<text:list text:style-name="L1" text:continue-numbering="true">{more}</text:list>'
        f'<text:list text:style-name="L2">{more}</text:list>'
        f'<text:list text:style-name="L1">{more}</text:list>'
    )
    assert _convert(body, automatic=lists) == (
        "1. one\n\n   a) inner\n2. two\n\nBetween.\n\n3. three\n\nIV. three\n\n1. three\n"
    )


def test_headings_in_lists_have_the_numbers_of_the_lists() -> None:
    """LibreOffice writes the numbered headings of a Word document like this."""
    style = f'<text:list-style style:name="L">{_level(1, "1")}{_level(2, "1", suffix="", shown=2)}</text:list-style>'
    first = '<text:p text:style-name="Heading_20_1">{}</text:p>'
    second = '<text:list><text:list-item><text:h text:outline-level="2">{}</text:h></text:list-item></text:list>'
    items = (first.format("Fees"), second.format("Rates"), second.format("Taxes"), first.format("Terms"))
    body = "<text:p>Words.</text:p>".join(
        '<text:list text:style-name="L" text:continue-numbering="true">'
        f"<text:list-item>{item}</text:list-item></text:list>"
        for item in (*items, second.format("Dates"))
    )
    lines = _convert(body, automatic=style).split("\n\nWords.\n\n")
    assert lines == ["# 1. Fees", "## 1.1 Rates", "## 1.2 Taxes", "# 2. Terms", "## 2.1 Dates\n"]


def test_text_in_a_paragraph_takes_neither_its_number_nor_its_place() -> None:
    style = f'<text:list-style style:name="L">{_level(1, "I")}</text:list-style>'
    note = "<text:note><text:note-body><text:p>Note.</text:p></text:note-body></text:note>"
    inner = '<text:list text:style-name="L"><text:list-item><text:p>Box.</text:p></text:list-item></text:list>'
    frame = f"<draw:frame><draw:text-box>{inner}</draw:text-box></draw:frame>"
    shape = "<draw:custom-shape><text:p>Shape.</text:p></draw:custom-shape>"
    item = f"<text:list-item><text:p>one{note} {frame}two{shape} words</text:p></text:list-item>"
    expected = "I. one[^1] two words\n\n[^1]: Note.\n\nI. Box.\n\nShape.\n"
    assert _convert(f'<text:list text:style-name="L">{item}</text:list>', automatic=style) == expected


def test_words_are_never_taken_for_the_reference_to_a_note() -> None:
    note = "<text:note><text:note-body><text:p>Note.</text:p></text:note-body></text:note>"
    assert _convert(f"<text:p>a\ue0001\ue001 b{note}</text:p>") == "a1 b[^1]\n\n[^1]: Note.\n"


def test_a_note_without_a_body_has_no_number() -> None:
    note = "<text:note><text:note-body><text:p>Note.</text:p></text:note-body></text:note>"
    assert _convert(f"<text:p>a{note} b<text:note/></text:p>") == "a[^1] b\n\n[^1]: Note.\n"


def test_footers_with_words_are_noted_as_left_out() -> None:
    footer = "<style:master-page><style:footer><text:p>{}</text:p></style:footer></style:master-page>"
    for words, left_out in (("Page 3 of 9", ("headers and footers",)), ("3", ())):
        converted = _convert_whole("<text:p>Body</text:p>", common=footer.format(words))
        assert (converted.text, converted.left_out) == ("Body\n", left_out)


def test_hidden_text_is_left_out() -> None:
    hidden = _style("T1", 'text:display="none"') + _style("P1", 'text:display="none"', family="paragraph")
    body = (
        '<text:p>shown <text:span text:style-name="T1">span</text:span></text:p>'
        '<text:p text:style-name="P1">line</text:p>'
        '<text:p><text:hidden-text text:is-hidden="true">field</text:hidden-text></text:p>'
        '<text:section text:display="none"><text:p>part</text:p></text:section>'
    )
    assert _convert(body, automatic=hidden) == "shown\n"


def test_readings_sequences_and_boxes() -> None:
    body = (
        "<text:p><text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text></text:ruby>です。"
        " Table <text:sequence>4</text:sequence></text:p>"
        "<text:p><text:content-control checkbox='true' checked='true'/> insured</text:p>"
    )
    assert _convert(body) == "漢字(かんじ)です。 Table 4\n\n[x] insured\n"
