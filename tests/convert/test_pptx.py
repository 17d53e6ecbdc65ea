"""Presentations as Markdown: raised figures, formulas and the numbers of lists."""

import io

import pytest
from pptx import Presentation
from pptx.oxml import parse_xml
from pptx.util import Inches

from roamtui.convert.converted import ConvertedText
from roamtui.convert.pptx import convert_pptx
from tests.case_files import read_rows
from tests.convert.samples import add_part, read_sample, remove_part, replace_part

_NAMESPACES = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:m="m" xmlns:a14="a14"'
_RAISED = '<a:r><a:t>50</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>3</a:t></a:r><a:r><a:t> tons</a:t></a:r>'


def _convert(*paragraphs: str, title: str = "") -> str:
    return _convert_deck(*paragraphs, title=title).text


def _convert_deck(*paragraphs: str, title: str) -> ConvertedText:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    box = slide.shapes.add_textbox(Inches(1), Inches(3), Inches(5), Inches(3)).text_frame
    table = slide.shapes.add_table(1, 1, Inches(1), Inches(6), Inches(5), Inches(1)).table
    frames = {slide.shapes.title.text_frame: [title], box: paragraphs, table.cell(0, 0).text_frame: [title]}
    for frame, contents in frames.items():
        for content in contents:
            frame._txBody.append(parse_xml(f"<a:p {_NAMESPACES}>{content}</a:p>"))
    stream = io.BytesIO()
    deck.save(stream)
    return convert_pptx(stream.getvalue(), "a.pptx")


def _cell(text: str = "", merged: str = "") -> str:
    return f"<a:tc {merged}><a:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>"


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        (
            [
                [_cell(), _cell("North", 'gridSpan="2"'), _cell(merged='hMerge="true"'), _cell("South")],
                [_cell("Lamp", 'rowSpan="2"'), _cell("3"), _cell("4"), _cell("5")],
                [_cell(merged='vMerge="1"'), _cell("6"), _cell("7"), _cell("8")],
            ],
            ["|  | North | North | South |", "| Lamp | 3 | 4 | 5 |", "| Lamp | 6 | 7 | 8 |"],
        ),
        (
            [[_cell("A title", 'gridSpan="2"'), _cell(merged='hMerge="1"')], [_cell("a"), _cell("b")]],
            ["| A title |  |", "| a | b |"],
        ),
    ],
)
def test_a_merged_cell_has_its_text_in_each_row_and_column(rows: list[list[str]], lines: list[str]) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    table = slide.shapes.add_table(1, 1, 0, 0, 9, 9).table._tbl
    table.remove(table.tr_lst[0])
    for row in rows:
        table.append(parse_xml(f"<a:tr {_NAMESPACES}>{''.join(row)}</a:tr>"))
    stream = io.BytesIO()
    deck.save(stream)
    text = convert_pptx(stream.getvalue(), "a.pptx").text
    assert [line for line in text.splitlines() if line.startswith("| ") and "---" not in line] == lines


def test_a_run_without_words_divides_no_number() -> None:
    empty = '<a:r><a:t></a:t></a:r><a:r><a:rPr strike="sngStrike" baseline="30000"/><a:t/></a:r>'
    text = _convert(f"<a:r><a:t>12</a:t></a:r>{empty}<a:r><a:t>34</a:t></a:r><a:br/><a:r><a:t>Euro</a:t></a:r>")
    assert text.endswith("\n\n1234 Euro\n")


def test_raised_figures_never_join_a_number() -> None:
    text = _convert(_RAISED, title=_RAISED)
    assert text == ("# 50<sup>3</sup> tons\n\n50<sup>3</sup> tons\n\n| 50<sup>3</sup> tons |\n| --- |\n")
    lowered = '<a:r><a:t>log</a:t></a:r><a:r><a:rPr baseline="-25000"/><a:t>2</a:t></a:r><a:r><a:t>{}</a:t></a:r>'
    assert "log<sub>2</sub>8" in _convert(lowered.format(8))
    assert "log2n" in _convert(lowered.format("n"))


def test_a_slide_without_a_title_is_named_by_its_first_words() -> None:
    raised = _RAISED.replace("tons", "tons of grain, which were weighed twice in the old harbour")
    title = _convert(raised).partition("\n")[0]
    assert title == "# Slide 1: 50³ tons of grain, which were weighed twice in the old…"


def test_what_is_struck_out_is_marked() -> None:
    old = '<a:r><a:rPr strike="sngStrike"/><a:t>9</a:t></a:r>'
    new = '<a:r><a:rPr strike="noStrike"/><a:t> 7 euros</a:t></a:r>'
    assert _convert(f"<a:r><a:t>It costs </a:t></a:r>{old}{new}").endswith("\n\nIt costs ~~9~~ 7 euros\n")


def test_letters_of_a_font_that_draws_signs_are_signs() -> None:
    arrow = '<a:r><a:rPr><a:latin typeface="Arial"/><a:sym typeface="Wingdings"/></a:rPr><a:t>A \uf0e0 B</a:t></a:r>'
    unit = '<a:r><a:rPr><a:latin typeface="Symbol"/></a:rPr><a:t> 5 m</a:t></a:r><a:r><a:t>g</a:t></a:r>'
    assert _convert(arrow + unit).endswith("\n\nA → B 5 μg\n")


def test_the_title_of_a_deck_is_words() -> None:
    assert _convert_deck(title=f"<a:r><a:t>A* search for </a:t></a:r>{_RAISED}").title == "A* search for 50³ tons"


def test_a_formula_is_one_line_of_text() -> None:
    power = "<m:sSup><m:e><m:t>r</m:t></m:e><m:sup><m:t>2</m:t></m:sup></m:sSup>"
    assert _convert(f"<a14:m><m:oMath><m:t>A=π</m:t>{power}</m:oMath></a14:m>").endswith("\n\nA=πr²\n")
    figure = "<a14:m><m:oMath><m:t>5</m:t></m:oMath></a14:m>"
    assert _convert(f"<a:r><a:t>1</a:t></a:r>{figure}<a:r><a:t>2</a:t></a:r>").endswith("\n\n1 5 2\n")


def test_a_hidden_shape_is_left_out() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    for name, hidden in (("Shown", "0"), ("Hidden", "1")):
        box = slide.shapes.add_textbox(0, 0, Inches(1), Inches(1))
        box.text_frame.text = name
        box._element.nvSpPr.cNvPr.set("hidden", hidden)
    stream = io.BytesIO()
    deck.save(stream)
    assert convert_pptx(stream.getvalue(), "a.pptx").text == "# Slide 1: Shown\n\nShown\n"


def test_lists_have_their_numbers() -> None:
    def number(text: str, kind: str, start: int = 1, level: int = 0) -> str:
        mark = f'<a:buAutoNum type="{kind}" startAt="{start}"/>'
        return f'<a:pPr lvl="{level}">{mark}</a:pPr><a:r><a:t>{text}</a:t></a:r>'

    text = _convert(
        number("four", "arabicPeriod", 4),
        number("inner", "alphaLcParenR", level=1),
        number("more", "alphaLcParenR", level=1),
        number("five", "arabicPeriod", 4),
        number("part", "romanUcParenBoth"),
    )
    assert "4. four\n   - a) inner\n   - b) more\n5. five\n\n- (I) part\n" in text
    assert "| 7. seven |" in _convert_deck(title=number("seven", "arabicPeriod", 7)).text


@pytest.mark.parametrize(("kind", "words"), [("ftr", "Confidential"), ("sldNum", "3")])
def test_footers_with_words_are_noted_as_left_out(kind: str, words: str) -> None:
    name = f'<p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>'
    shape = f"<p:sp>{name}<p:txBody><a:p><a:r><a:t>{words}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree>"
    data = replace_part(read_sample("talk.pptx"), "ppt/slides/slide2.xml", "</p:spTree>", shape)
    converted = convert_pptx(data, "a.pptx")
    assert converted.text == convert_pptx(read_sample("talk.pptx"), "a.pptx").text
    assert converted.left_out == ("headers and footers",) * (kind == "ftr")


def test_a_point_of_a_diagram_is_one_item() -> None:
    frame = (
        '<p:graphicFrame><a:graphic><a:graphicData><relIds dm="rId77"/></a:graphicData></a:graphic></p:graphicFrame>'
    )
    data = replace_part(read_sample("talk.pptx"), "ppt/slides/slide2.xml", "</p:spTree>", f"{frame}</p:spTree>")
    data = replace_part(
        data, "ppt/slides/_rels/slide2.xml.rels", "</Relationships>", _LINK.format("../media/d.xml", "")
    )
    point = "<x><p><r><t>Plan</t></r><r><t>ning</t></r></p><p><r><t>Building</t></r></p></x>"
    assert "- Planning\n- Building\n" in convert_pptx(add_part(data, "ppt/media/d.xml", point), "a.pptx").text


_LINK = '<Relationship Id="rId77" Type="a/image" Target="{}"{}/></Relationships>'


@pytest.mark.parametrize(("name", "content"), [("pic", "<p:blipFill/>"), ("graphicFrame", "<a:graphic/>")])
def test_a_picture_or_chart_is_its_description(name: str, content: str) -> None:
    frame = f'<p:{name}><p:nvPr><p:cNvPr id="90" descr="A ] boat"/></p:nvPr>{content}</p:{name}></p:spTree>'
    data = replace_part(read_sample("talk.pptx"), "ppt/slides/slide2.xml", "</p:spTree>", frame)
    assert "![A \\] boat]()" in convert_pptx(data, "a.pptx").text


def test_notes_may_be_in_any_box_of_their_page() -> None:
    box = "<p:sp><p:txBody><a:p><a:r><a:t>In a box.</a:t></a:r></a:p></p:txBody></p:sp></p:spTree>"
    data = replace_part(read_sample("talk.pptx"), "ppt/notesSlides/notesSlide1.xml", "</p:spTree>", box)
    assert "\n\nIn a box.\n" in convert_pptx(data, "a.pptx").text


@pytest.mark.parametrize(("part", "is_needed"), read_rows("convert/pptx", "missing_parts"))
def test_a_part_that_is_missing_costs_no_other_part(part: str, *, is_needed: bool) -> None:
    converted = convert_pptx(remove_part(read_sample("talk.pptx"), part), "a.pptx")
    assert "left column" in converted.text
    assert len(converted.page_starts) == 4
    note = f"not all of it can be read, because a part is damaged: {part}."
    assert converted.notes == ((note,) if is_needed else ())


def test_a_part_that_is_cut_keeps_its_beginning_and_is_named() -> None:
    data = replace_part(read_sample("talk.pptx"), "ppt/slides/slide2.xml", "It can be mended", "It can<")
    converted = convert_pptx(data, "a.pptx")
    assert "Since 1843" in converted.text
    assert "left column" in converted.text
    assert converted.notes == ("not all of it can be read, because a part is damaged: ppt/slides/slide2.xml.",)
