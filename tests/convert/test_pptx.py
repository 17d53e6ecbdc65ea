"""Presentations as Markdown: raised figures, formulas and the numbers of lists."""

import io

from pptx import Presentation
from pptx.oxml import parse_xml
from pptx.util import Inches

from roamtui.convert.pptx import convert_pptx

_NAMESPACES = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:m="m" xmlns:a14="a14"'
_RAISED = '<a:r><a:t>50</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>3</a:t></a:r><a:r><a:t> tons</a:t></a:r>'


def _convert(*paragraphs: str, title: str = "") -> str:
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
    return convert_pptx(stream.getvalue(), "a.pptx").text


def test_raised_figures_never_join_a_number() -> None:
    text = _convert(_RAISED, title=_RAISED)
    assert text == ("# 50<sup>3</sup> tons\n\n50<sup>3</sup> tons\n\n| 50<sup>3</sup> tons |\n| --- |\n")


def test_a_formula_is_one_line_of_text() -> None:
    power = "<m:sSup><m:e><m:t>r</m:t></m:e><m:sup><m:t>2</m:t></m:sup></m:sSup>"
    assert "A=πr^2" in _convert(f"<a14:m><m:oMath><m:t>A=π</m:t>{power}</m:oMath></a14:m>")


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
    assert "4. four\n   - a) inner\n   - b) more\n5. five\n- (I) part\n" in text
