"""Word documents as Markdown: every word, number, formula and box that a person sees, and nothing that is hidden."""

from collections.abc import Mapping

import pytest

from roamtui.convert.converted import ConvertedText
from roamtui.convert.docx import convert_docx
from tests.case_files import read_rows
from tests.convert.samples import make_docx_parts, pack, read_outline, remove_part, replace_part
from tests.convert.samples import write_word_paragraph as write

_OTHER_NUMBERS = "Word writes the numbers of some lists in another way than 1, 2, 3"
_MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def _run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def _style(style_id: str, properties: str, *, base: str = "", kind: str = "paragraph") -> str:
    based = f'<w:basedOn w:val="{base}"/>' if base else ""
    return f'<w:style w:type="{kind}" w:styleId="{style_id}"><w:name w:val="{style_id}"/>{based}{properties}</w:style>'


def _convert(*paragraphs: str, styles: str = "", footnotes: str = "", numbering: str = "") -> str:
    return _convert_whole(*paragraphs, styles=styles, footnotes=footnotes, numbering=numbering).text


def _convert_whole(
    *paragraphs: str,
    styles: str = "",
    footnotes: str = "",
    numbering: str = "",
    others: Mapping[str, str | bytes] | None = None,
) -> ConvertedText:
    parts = make_docx_parts(paragraphs, styles=styles, footnotes=footnotes)
    parts["word/numbering.xml"] = f"<w:numbering xmlns:w='w' xmlns:mc='mc'>{numbering}</w:numbering>"
    return convert_docx(pack({**parts, **(others or {})}), "a.docx")


def _numbered(text: str, number_id: int, level: int = 0) -> str:
    numbers = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number_id}"/></w:numPr>'
    return f"<w:p><w:pPr>{numbers}</w:pPr>{_run(text)}</w:p>"


def test_a_large_first_letter_is_part_of_its_word() -> None:
    for kind in ("drop", "margin"):
        properties = f'<w:keepNext/><w:framePr w:dropCap="{kind}" w:lines="3"/>'
        look = '<w:position w:val="-7"/><w:sz w:val="97"/>'
        initial = f"<w:p><w:pPr>{properties}</w:pPr>{_run('O', look)}</w:p>"
        assert _convert(write("Before"), initial, write("nce upon a time")) == "Before\n\nOnce upon a time\n"


def test_a_document_is_named_by_its_title_paragraph_unless_its_properties_name_it() -> None:
    paragraphs = (write("Boats &amp; oars", "Title"), write("Keels", "Title"))
    untitled = _convert_whole(*paragraphs, styles=_style("Title", ""), others={"docProps/core.xml": "<c/>"})
    assert untitled.title == "Boats & oars"
    assert _convert_whole(*paragraphs, styles=_style("Title", "")).title == "The Handbook"


_START = '<w:start w:val="1"/>'


def _list(number_id: int, *levels: tuple[str, str], more: str = "") -> str:
    """Return a list; `more` is what its last level has, too."""
    shapes = "".join(
        f'<w:lvl w:ilvl="{level}">{_START}<w:numFmt w:val="{kind}"/><w:lvlText w:val="{pattern}"/>'
        f"{more if level == len(levels) - 1 else ''}</w:lvl>"
        for level, (kind, pattern) in enumerate(levels)
    )
    return (
        f'<w:abstractNum w:abstractNumId="{number_id}">{shapes}</w:abstractNum>'
        f'<w:num w:numId="{number_id}"><w:abstractNumId w:val="{number_id}"/></w:num>'
    )


_RAISED = '<w:vertAlign w:val="superscript"/>'
_SIZE = '<w:sz w:val="22"/>'
_TONS = "50<sup>3</sup> tons in 2024<sup>12</sup>"
_CHECKED = (
    '<w:sdt><w:sdtPr><w:checkbox><w:checked w:val="1"/></w:checkbox></w:sdtPr>'
    f"<w:sdtContent>{_run('☒')}</w:sdtContent></w:sdt>{_run(' insured')}"
)
_FIELD = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
_RESULT = (
    f"{_FIELD.format('begin')}<w:r><w:instrText>REF a</w:instrText></w:r>{_run('code')}"
    f"{_FIELD.format('separate')}{_run('result')}{_FIELD.format('end')}"
)
_UNCHECKED = (
    '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="0"/></w:checkBox></w:ffData>'
    f"</w:fldChar></w:r>{_FIELD.format('end')}{_run(' rented')}"
)
_CHART = '<w:r><w:drawing><inline><docPr descr="Sales: 10, 20"/><a><chart/></a></inline></w:drawing></w:r>'
_HALF = "<m:f><m:num><m:t>1</m:t></m:num><m:den><m:t>2</m:t></m:den></m:f>"
_SUM = (
    '<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub><m:t>i=1</m:t></m:sub><m:sup><m:t>n</m:t></m:sup>'
    "<m:e><m:sSub><m:e><m:t>x</m:t></m:e><m:sub><m:t>i</m:t></m:sub></m:sSub></m:e></m:nary>"
)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (_run("50") + _run("3", _RAISED) + _run(" tons in 2024") + _run("1", _RAISED) + _run("2", _RAISED), _TONS),
        (_run("H") + _run("2", _RAISED.replace("super", "sub")) + _run("O"), "H2O"),
        (
            _run("1010") + _run("2", '<w:position w:val="-6"/><w:sz w:val="16"/>') + _run(" tons"),
            "1010<sub>2</sub> tons",
        ),
        (_run("Total 5", _SIZE) + _run("0", f'{_SIZE}<w:position w:val="2"/>') + _run(" tons"), "Total 50 tons"),
        (_run("5", _SIZE) + 2 * _run("0", '<w:sz w:val="16"/><w:position w:val="6"/>'), "5<sup>00</sup>"),
        (_run("log") + _run("10", _RAISED.replace("super", "sub")) + _run("100"), "log<sub>10</sub>100"),
        (_CHART, "![Sales: 10, 20]()"),
        (f'{_run("Table ")}<w:fldSimple w:instr="SEQ Table">{_run("4")}</w:fldSimple>', "Table 4"),
        (_RESULT, "result"),
        (f'<w:bdo w:val="rtl">{_run("نص")}</w:bdo><w:dir w:val="ltr">{_run(" text")}</w:dir>', "نص text"),
        (f"<w:ins>{_run('new')}</w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>", "new"),
        (f"<w:moveFrom>{_run('old place')}</w:moveFrom><w:moveTo>{_run('new place')}</w:moveTo>", "new place"),
        (f"{_run('shown')}{_run(' hidden', '<w:vanish/>')}", "shown"),
        ('<w:r><w:sym w:font="Symbol" w:char="F0B3"/><w:t>5 </w:t></w:r>' + _run("mg", ""), "≥5 mg"),
        (_run("m", '<w:rFonts w:ascii="Symbol"/>') + _run("g"), "μg"),
        ('<w:r><w:sym w:font="Wingdings" w:char="F08D"/><w:sym w:font="Wingdings 2" w:char="F06C"/></w:r>', "❷③"),
        (
            f"<w:r><w:ruby><w:rt>{_run('かんじ')}</w:rt><w:rubyBase>{_run('漢字')}</w:rubyBase></w:ruby></w:r>",
            "漢字(かんじ)",
        ),
        (_CHECKED, "[x] insured"),
        (_UNCHECKED, "[ ] rented"),
        (_run("left column") + '<w:r><w:br w:type="column"/></w:r>' + _run("right"), "left column\\\nright"),
        ('<w:r><w:br w:type="page"/></w:r>' + _run("new page") + '<w:r><w:br w:type="page"/></w:r>', "new page"),
    ],
)
def test_what_a_person_sees_in_a_line_is_there(content: str, text: str) -> None:
    assert _convert(f"<w:p>{content}</w:p>") == text + "\n"


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("<m:r><m:t>A=π</m:t></m:r><m:sSup><m:e><m:t>r</m:t></m:e><m:sup><m:t>2</m:t></m:sup></m:sSup>", "A=πr²"),
        ("<m:f><m:num><m:t>a</m:t></m:num><m:den><m:t>b</m:t></m:den></m:f>", "a/b"),
        ("<m:f><m:num><m:t>a+b</m:t></m:num><m:den><m:t>2</m:t></m:den></m:f>", "(a+b)/2"),
        ("<m:rad><m:deg/><m:e><m:t>x+1</m:t></m:e></m:rad>", "√(x+1)"),
        (f"<m:r><m:t>2</m:t></m:r>{_HALF}<m:r><m:t>x</m:t></m:r>", "2 1/2 x"),
        ("<m:bar><m:e><m:t>y</m:t></m:e></m:bar>", "y\N{COMBINING OVERLINE}"),
        (_SUM, "∑ᵢ₌₁ⁿ xᵢ"),
        ("<m:d><m:e><m:t>a</m:t></m:e><m:e><m:t>b</m:t></m:e></m:d>", "(a|b)"),
    ],
)
def test_a_formula_is_one_line_of_text(formula: str, text: str) -> None:
    assert _convert(f"<w:p><m:oMath {_MATH}>{formula}</m:oMath></w:p>") == text + "\n"


def test_figures_of_a_formula_never_join_those_next_to_it() -> None:
    lines = "<m:r><m:t>a=1</m:t></m:r><m:r><w:br/></m:r><m:r><m:t>2=b</m:t></m:r>"
    formulas = (f"<m:oMath {_MATH}>{formula}</m:oMath>" for formula in (_HALF, lines))
    assert _convert(f"<w:p>{_run('2')}{next(formulas)}{_run('3 h ')}{next(formulas)}</w:p>") == "2 1/2 3 h a=1 2=b\n"


def test_outline_levels_make_headings_wherever_they_are_set() -> None:
    styles = (
        _style("Child", "", base="Parent")
        + _style("Parent", '<w:pPr><w:outlineLvl w:val="1"/></w:pPr>')
        + _style("heading 1", "")
        + _style("Loop", "", base="Loop")
    )
    own = '<w:p><w:pPr><w:outlineLvl w:val="2"/></w:pPr><w:r><w:t>Third</w:t></w:r></w:p>'
    body = '<w:p><w:pPr><w:pStyle w:val="heading 1"/><w:outlineLvl w:val="9"/></w:pPr><w:r><w:t>Body</w:t></w:r></w:p>'
    text = _convert(
        write("First", "heading 1"), write("Second", "Child"), own, body, write("Loop", "Loop"), styles=styles
    )
    assert read_outline(text) == [(1, "First"), (2, "Second"), (3, "Third")]


def test_lines_in_bold_are_headings_if_no_style_makes_one() -> None:
    text = "Berths cost 7 euros a night, and the office books them."
    bold = [f"<w:p>{_run(title, '<w:b/>')}</w:p>" for title in ("Berths", "Quiet hours")]
    paragraphs = (bold[0], write(text), bold[1], write(text))
    assert read_outline(_convert(*paragraphs)) == [(2, "Berths"), (2, "Quiet hours")]
    level = '<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Rules</w:t></w:r></w:p>'
    assert read_outline(_convert(level, *paragraphs)) == [(1, "Rules")]


def test_headings_and_lists_have_the_numbers_that_word_writes() -> None:
    heads = (
        '<w:abstractNum w:abstractNumId="7">'
        f'<w:lvl w:ilvl="0">{_START}<w:pStyle w:val="H1"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="Part %1"/>'
        f'</w:lvl><w:lvl w:ilvl="1">{_START}<w:pStyle w:val="H2"/><w:isLgl/><w:lvlText w:val="%1.%2"/></w:lvl>'
        '</w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="7"/></w:num>'
    )
    numbers = '<w:pPr><w:outlineLvl w:val="{}"/><w:numPr><w:numId w:val="7"/></w:numPr></w:pPr>'
    styles = _style("H1", numbers.format(0)) + _style("H2", numbers.format(1))
    text = _convert(
        write("Fees", "H1"),
        write("Late fees", "H2"),
        _numbered("first", 2),
        _numbered("inner", 2, 1),
        _numbered("second", 2),
        write("Berths", "H1"),
        write("Deposits", "H2"),
        _numbered("a bullet", 3),
        styles=styles,
        numbering=heads + _list(2, ("decimal", "%1."), ("lowerLetter", "(%2)")) + _list(3, ("bullet", "")),
    )
    assert text == (
        "# Part I Fees\n\n## 1.1 Late fees\n\n1. first\n\n   (a) inner\n2. second\n\n"
        "# Part II Berths\n\n## 2.1 Deposits\n\n- a bullet\n"
    )


def test_a_cell_may_have_only_its_number() -> None:
    cells = "".join(f"<w:tr><w:tc>{_numbered('', each)}</w:tc><w:tc>{write('a')}</w:tc></w:tr>" for each in (1, 1, 2))
    lists = _list(1, ("decimal", "%1.")) + _list(2, ("upperLetter", "(%1)"))
    text = _convert(_numbered("", 2), f"<w:tbl>{cells}</w:tbl>", numbering=lists)
    assert text == "| | |\n| --- | --- |\n| 1. | a |\n| 2. | a |\n| (B) | a |\n"


@pytest.mark.parametrize(("restart", "numbers"), read_rows("convert/docx", "restarts"))
def test_a_level_restarts_after_the_levels_that_it_names(restart: str, numbers: str) -> None:
    shapes = _list(2, ("decimal", "%1."), ("decimal", "%1.%2."), ("decimal", "%3)"), more=restart)
    levels = (0, 1, 2, 2, 1, 2, 0, 1, 2)
    text = _convert(*(_numbered("item", 2, level) for level in levels), numbering=shapes)
    assert " ".join(line.strip()[0] for line in text.splitlines() if ") item" in line) == numbers


_CUSTOM = (
    '<mc:AlternateContent><mc:Choice Requires="w14"><w:numFmt w:format="{}" w:val="custom"/></mc:Choice>'
    '<mc:Fallback><w:numFmt w:val="decimal"/></mc:Fallback></mc:AlternateContent>'
)


@pytest.mark.parametrize(("levels", "more", "custom", "number", "unknown"), read_rows("convert/docx", "printed"))
def test_a_number_is_printed_as_word_prints_it(
    levels: list[tuple[str, str]], more: str, custom: str, number: str, unknown: str
) -> None:
    shapes = _list(2, *levels, more=more)
    if custom:
        shapes = shapes.replace('<w:numFmt w:val="decimal"/>', _CUSTOM.format(custom))
    converted = _convert_whole(_numbered("item", 2, len(levels) - 1), numbering=shapes)
    assert converted.text == f"{number} item\n"
    assert converted.notes == ((f"{_OTHER_NUMBERS}: {unknown}.",) if unknown else ())


_FIELD_WITHOUT_RESULT = f"{_FIELD.format('begin')}<w:r><w:instrText>{{}}</w:instrText></w:r>{_FIELD.format('end')}"


@pytest.mark.parametrize(("instruction", "text"), read_rows("convert/docx", "fields"))
def test_a_field_without_a_result_is_what_word_draws(instruction: str, text: str) -> None:
    field = _FIELD_WITHOUT_RESULT.format(instruction)
    written = _convert(f"<w:p>{_run('The dose is ')}{field}{_run(' a day')}</w:p>")
    assert written == " ".join(["The dose is", *text.split(), "a day"]) + "\n"


def test_a_point_of_a_diagram_is_one_item() -> None:
    point = "<p><r><t>Plan</t></r><r><t>ning</t></r><br/><r><t>starts</t></r></p>"
    others = {"word/_rels/document.xml.rels": _relate("d.xml"), "word/d.xml": f"<dataModel>{point}<p/></dataModel>"}
    drawing = "<w:p><w:r><w:drawing><relIds dm='c'/></w:drawing></w:r></w:p>"
    assert _convert_whole(drawing, others=others).text == "- Planning starts\n"


def _relate(target: str, *, mode: str = "") -> str:
    return (
        f"<Relationships><Relationship Id='c' Type='x/aFChunk' Target='{target}' TargetMode='{mode}'/></Relationships>"
    )


_CHUNK = "<w:altChunk r:id='c' xmlns:r='r'/>"
_PAGE = "<html><head><title>x</title><style>y</style></head><body>Six <b>weeks</b><p>or so</div></body></html>"
_NOTED_WORD = make_docx_parts(
    [f"<w:p>{_run('Six weeks')}<w:r><w:footnoteReference w:id='2'/></w:r></w:p>", _CHUNK],
    styles="",
    footnotes=f'<w:footnote w:id="2">{write("Or so.")}</w:footnote>',
)


@pytest.mark.parametrize(
    ("part", "data", "text"),
    [
        ("chunk.html", _PAGE, "Six **weeks**\n\nor so"),
        ("chunk.docx", pack(_NOTED_WORD), "Six weeks[^1]\n\n[^1]: Or so."),
    ],
)
def test_a_document_in_a_document_is_there_in_its_place(part: str, data: str | bytes, text: str) -> None:
    others = {"word/_rels/document.xml.rels": _relate(part), f"word/{part}": data}
    converted = _convert_whole(write("Before"), _CHUNK, write("After"), others=others)
    assert converted.text == f"Before\n\n{text}\n\nAfter\n"


_MISSING = "not in the file: an embedded document."


@pytest.mark.parametrize(
    ("part", "data", "mode", "note"),
    [
        ("http://example.org/a.html", "", "External", _MISSING),
        ("a.rtf", "{\\rtf1 x}", "", "an embedded document cannot be read: a.rtf."),
        ("a.docx", b"PK\x03\x04cut", "", "an embedded document cannot be read: a.docx."),
        (
            "a.docx",
            pack({**_NOTED_WORD, "word/_rels/document.xml.rels": _relate("b.html"), "word/b.html": "deep"}),
            "",
            "an embedded document cannot be read: b.html.",
        ),
    ],
)
def test_a_document_that_cannot_be_shown_is_named(part: str, data: str | bytes, mode: str, note: str) -> None:
    others = {"word/_rels/document.xml.rels": _relate(part, mode=mode), f"word/{part}": data}
    others = {name: content for name, content in others.items() if content}
    converted = _convert_whole(write("Before"), _CHUNK, write("After"), others=others)
    assert converted.text.startswith("Before\n\n")
    assert converted.text.endswith("\n\nAfter\n")
    assert "deep" not in converted.text
    assert converted.notes == (note,)


@pytest.mark.parametrize(("words", "is_noted"), [("Confidential", True), ("12", False), ("", False)])
def test_headers_with_words_are_noted_as_left_out(words: str, *, is_noted: bool) -> None:
    relation = '<r><Relationship Id="x" Type="t/header" Target="header1.xml"/></r>'
    header = f'<w:hdr xmlns:w="w"><w:instrText>PAGE</w:instrText>{write(words)}</w:hdr>'
    others = {"word/_rels/document.xml.rels": relation, "word/header1.xml": header}
    converted = _convert_whole(write("Body"), others=others)
    assert converted.text == "Body\n"
    assert converted.notes == ("headers and footers left out of the text.",) * is_noted
    assert converted.left_out == ("headers and footers",) * is_noted


@pytest.mark.parametrize(("look", "has_heads"), read_rows("convert/docx", "looks"))
def test_the_first_row_is_a_head_if_the_look_of_the_table_says_so(look: str, *, has_heads: bool) -> None:
    rows = [f"<w:tr><w:tc>{write(first)}</w:tc><w:tc>{write(second)}</w:tc></w:tr>" for first, second in ("AB", "12")]
    properties = f"<w:tblPr><w:tblLook {look}/></w:tblPr>"
    lines = _convert(f"<w:tbl>{properties}{''.join(rows)}</w:tbl>").splitlines()
    assert lines[:3] == (
        ["| A | B |", "| --- | --- |", "| 1 | 2 |"] if has_heads else ["| | |", "| --- | --- |", "| A | B |"]
    )
    assert _convert(f"<w:tbl>{properties}{rows[0]}</w:tbl>").startswith("| | |")


@pytest.mark.parametrize("part", ["word/styles.xml", "word/footnotes.xml", "word/numbering.xml"])
def test_a_part_that_is_missing_or_cut_costs_no_other_part(part: str) -> None:
    cited = f"<w:p>{_run('In 2024')}<w:r><w:footnoteReference w:id='2'/></w:r></w:p>"
    parts = make_docx_parts([cited, _numbered("item", 2)], styles="<w:style/>", footnotes="<w:footnote/>")
    parts["word/numbering.xml"] = "<w:numbering xmlns:w='w'><w:num/></w:numbering>"
    missing = "not in the file: a note."
    for data, note in (
        (remove_part(pack(parts), part), ""),
        (replace_part(pack(parts), part, "</", "<"), f"not all of it can be read, because a part is damaged: {part}."),
    ):
        converted = convert_docx(data, "a.docx")
        assert converted.text == "In 2024\n\nitem\n"
        assert converted.notes == (missing, *filter(None, [note]))


def test_text_boxes_follow_their_paragraph_and_are_there_once() -> None:
    box = f"<w:txbxContent>{write('In the box')}</w:txbxContent>"
    alternatives = (
        f"<mc:AlternateContent xmlns:mc='mc'><mc:Choice><w:drawing>{box}</w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent>"
    )
    text = _convert(f"<w:p><w:r><w:t>Before.</w:t>{alternatives}</w:r></w:p>", write("After."))
    assert text == "Before.\n\nIn the box\n\nAfter.\n"


def test_notes_stand_below_the_first_paragraph_that_cites_them() -> None:
    cited = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    own = f'<w:footnote w:id="2">{write("Own words.")}</w:footnote><w:footnote w:id="3">{write("Unused.")}</w:footnote>'
    text = _convert(f"<w:p>{_run('In 2024')}{cited}</w:p>", f"<w:p>{_run('Again')}{cited}</w:p>", footnotes=own)
    assert text == "In 2024[^1]\n\n[^1]: Own words.\n\nAgain[^1]\n"


def test_a_paragraph_whose_end_is_deleted_continues_in_the_next_one() -> None:
    joined = f"<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr>{_run('harbour')}</w:p>"
    assert _convert(joined, write("master"), joined) == "harbourmaster\n\nharbour\n"


@pytest.mark.parametrize(("end", "look"), [("del", "moveFrom"), ("moveFrom", "del"), ("vanish", "vanish")])
def test_what_a_person_does_not_see_takes_no_number_of_a_list(end: str, look: str) -> None:
    words = _run("gone", "<w:vanish/>") if look == "vanish" else f"<w:{look}>{_run('gone')}</w:{look}>"
    gone = _numbered("", 2).replace("</w:numPr>", f"</w:numPr><w:rPr><w:{end}/></w:rPr>").replace(_run(""), words)
    table = "<w:tbl><w:tr><w:tc/></w:tr></w:tbl>"
    paragraphs = (_numbered("one", 2), gone, _numbered("two", 2), gone, table, _numbered("three", 2))
    text = _convert(*paragraphs, numbering=_list(2, ("decimal", "%1.")))
    assert text == "1. one\n2. two\n\n<!-- -->\n\n3. three\n"


def test_merged_cells_and_deleted_rows() -> None:
    def row(*cells: str, properties: str = "") -> str:
        return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"

    def cell(text: str, properties: str = "") -> str:
        return f"<w:tc><w:tcPr>{properties}</w:tcPr>{write(text)}</w:tc>"

    table = (
        row(cell("Port"), cell("Fees", '<w:gridSpan w:val="2"/>'), properties="<w:tblHeader/>")
        + row(cell("Oslo", '<w:vMerge w:val="restart"/>'), cell("1"), cell("2", '<w:gridSpan w:val="999999999"/>'))
        + row(cell("", "<w:vMerge/>"), cell("3"), cell("4"))
        + row(cell("Both", '<w:gridSpan w:val="2"/>'), cell("5"))
        + row(cell("6"), cell("", "<w:vMerge/>"), cell("7"))
        + row(cell("gone"), properties="<w:del/>")
    )
    text = _convert(f"<w:tbl>{table}</w:tbl>")
    assert text.splitlines() == [
        "| Port | Fees | Fees |",
        "| --- | --- | --- |",
        "| Oslo | 1 | 2 |",
        "| Oslo | 3 | 4 |",
        "| Both | Both | 5 |",
        "| 6 |  | 7 |",
    ]


def test_lists_in_cells_have_their_numbers_even_without_words() -> None:
    cells = (("", "Pay"), ("", "Sail"))
    rows = (f"<w:tr><w:tc>{_numbered(a, 2)}</w:tc><w:tc>{_numbered(b, 3)}</w:tc></w:tr>" for a, b in cells)
    numbering = _list(2, ("decimal", "%1.")) + _list(3, ("lowerLetter", "(%1)"))
    text = _convert(f"<w:tbl>{''.join(rows)}</w:tbl>", numbering=numbering)
    assert text.splitlines()[2:] == ["| 1. | (a) Pay |", "| 2. | (b) Sail |"]


def test_a_table_in_a_footnote_is_written_as_words() -> None:
    cited = f"<w:p>{_run('Fees')}<w:r><w:footnoteReference w:id='2'/></w:r></w:p>"
    cells = "".join(f"<w:tc><w:p>{_run(text)}</w:p></w:tc>" for text in ("6 m", "40 euros"))
    note = f'<w:footnote w:id="2"><w:p>{_run("By length:")}</w:p><w:tbl><w:tr>{cells}</w:tr></w:tbl></w:footnote>'
    assert _convert(cited, footnotes=note) == "Fees[^1]\n\n[^1]: By length: 6 m 40 euros\n"
