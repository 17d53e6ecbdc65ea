"""The text of PDFs: rows, columns, tables, rotated pages, other scripts, and divided words."""

import zlib

import pytest

from roamtui.convert.pdf.convert import convert_pdf
from roamtui.convert.pdf.markdown import LineJoiner
from roamtui.convert.pdf.pdfium import PdfFile
from roamtui.convert.pdf.rows import PageRow, make_row
from roamtui.convert.pdf.words import PageWord
from tests.case_files import read_rows
from tests.convert.sample_pdf import PdfLine, assemble, lay_cells, lay_out, make_pdf

_PROSE = "All the boats lie in the harbour, and the harbour lies behind the town."


def _text(*pages: list[PdfLine]) -> str:
    return convert_pdf(make_pdf(pages), "a.pdf").text


def _place(text: str, *, x: float) -> PageWord:
    return PageWord(text, x, x + 5 * len(text), 0, 10, 0, len(text) - 1)


def _row(*words: PageWord) -> list[str]:
    return [cell.text for cell in make_row(words).cells]


def _lines(x: float, name: str, *, count: int = 20) -> list[PdfLine]:
    return [
        PdfLine(text=f"{name} line {row} has a few more words", top=700 - 12 * row, x=x, size=9) for row in range(count)
    ]


def test_columns_are_read_one_after_the_other_if_they_are_drawn_so() -> None:
    left, right = _lines(72, "left"), _lines(320, "right")
    text = _text([PdfLine(text="A title over both of the columns that goes on and on", top=740, x=100), *left, *right])
    assert text.index("left line 19") < text.index("right line 0")
    by_rows = _text([line for pair in zip(left, right, strict=True) for line in pair])
    assert "left line 0 has a few more words | right line 0" in by_rows


def test_a_short_title_beside_a_column_stays_above_or_below_both_if_it_is_drawn_so() -> None:
    above, below = PdfLine(text="Boat News", top=720, x=320), PdfLine(text="Accounts", top=440)
    text = _text([above, *_lines(72, "left"), *_lines(320, "right"), below])
    assert text.index("Boat News") < text.index("left line 0")
    assert text.index("left line 19") < text.index("right line 0") < text.index("Accounts")


def test_boxes_beside_a_paragraph_are_read_alone() -> None:
    left, box = _lines(72, "left", count=6), _lines(250, "box", count=4)
    text = _text([*left, *box, *_lines(420, "last", count=4)])
    assert text.index("left line 5") < text.index("box line 0") < text.index("box line 3") < text.index("last line 0")
    by_rows = _text([line for pair in zip(left, box, strict=False) for line in pair])
    assert by_rows.index("box line 0") < by_rows.index("left line 1")


def test_prose_in_two_columns_that_is_drawn_line_by_line_is_read_column_by_column() -> None:
    words = "harbour office ferry captain storm deck winter rope"
    left = [PdfLine(text=f"L{row} {words}", top=700 - 12 * row, x=72, size=9) for row in range(20)]
    right = [PdfLine(text=f"R{row} {words}", top=700 - 12 * row, x=300, size=9) for row in range(20)]
    text = _text([line for pair in zip(left, right, strict=True) for line in pair])
    assert text.index("L19") < text.index("R0 ")


def test_a_column_whose_lines_mostly_hang_below_a_number_is_read_alone() -> None:
    right = [
        line
        for item in range(8)
        for top in (700 - 36 * item,)
        for line in (
            PdfLine(text=f"[{item}]", top=top, x=280, size=9),
            PdfLine(text="author of a few words and more words", top=top, x=294, size=9),
            PdfLine(text="title of a few words and more words", top=top - 12, x=294, size=9),
            PdfLine(text="place of a few words and more words", top=top - 24, x=294, size=9),
        )
    ]
    text = _text([*_lines(72, "left"), *right])
    assert text.index("left line 19") < text.index("[0] author")


def test_an_item_below_the_end_of_a_sentence_begins_a_paragraph() -> None:
    items = "3. The tenant pays for the roof.", "4. The deposit is due.", "(a) It is kept for section", "5. of the law."
    text = convert_pdf(make_pdf([lay_out("The terms", *items)]), "a.pdf").text
    assert text.endswith(f"{items[0]}\n\n{items[1]}\n\n{items[2]}\n{items[3]}")


@pytest.mark.parametrize(("drawn", "expected"), read_rows("convert/pdf/text", "accents"))
def test_an_accent_that_is_drawn_over_a_letter_belongs_to_it(drawn: str, expected: str) -> None:
    data = make_pdf([[]], empty=f"BT /F1 11 Tf 72 700 Td [{drawn}] TJ ET")
    assert convert_pdf(data, "a.pdf").text.partition("\n\n")[2] == expected


def _raise(*parts: str) -> str:
    """Return the Markdown of a line in which every second part is raised, and ``_`` starts a lowered one."""
    drawn = ""
    for number, part in enumerate(parts):
        rise = 0 if number % 2 == 0 else -2 if part.startswith("_") else 4
        drawn += f"/F1 {6.5 if rise else 11} Tf {rise} Ts ({part.lstrip('_')}) Tj "
    data = make_pdf([[]], empty=f"BT 1 0 0 1 72 700 Tm {drawn}ET")
    return convert_pdf(data, "a.pdf").text.partition("\n\n")[2]


@pytest.mark.parametrize(("parts", "expected"), read_rows("convert/pdf/text", "raised"))
def test_a_raised_figure_never_joins_a_number(parts: tuple[str, ...], expected: str) -> None:
    assert _raise(*parts) == expected


def test_a_raised_figure_in_a_bitmap_font_never_joins_a_number() -> None:
    draw = "BT 1 0 0 1 72 700 Tm /F1 11 Tf (50) Tj /F1 6.5 Tf 4 Ts (3) Tj ET"
    font = (
        "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 8 8] /FontMatrix [0.1 0 0 0.1 0 0] /CharProcs << /zero 5 0 R"
        " /three 5 0 R /five 5 0 R >> /Encoding << /Differences [48 /zero 51 /three 53 /five] >>"
        " /FirstChar 48 /LastChar 53 /Widths [6 6 6 6 6 6] >>"
    )
    fonts = "/Resources << /Font << /F1 3 0 R >> >>"
    data = assemble(
        [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Count 1 /Kids [6 0 R] >>",
            font,
            f"<< /Length {len(draw)} >>\nstream\n{draw}\nendstream",
            "<< /Length 26 >>\nstream\n6 0 0 0 5 7 d1 0 0 5 7 re f\nendstream",
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R {fonts} >>",
        ]
    )
    assert convert_pdf(data, "a.pdf").text.endswith("50<sup>3</sup>")


@pytest.mark.parametrize(("end", "is_title"), [("", True), (".", False)])
def test_a_sentence_that_ends_in_a_raised_mark_is_no_title(end: str, *, is_title: bool) -> None:
    sentence = f"WINTER SERVICE{end}"
    page = lay_out(*["Ships called at the harbour"] * 8, "", sentence, "", *["Ferries sail each hour"] * 8)
    mark = PdfLine(text="8", top=720 - 9 * 14 + 4, x=166 + 3 * len(end), size=6)
    text = _text([*page, mark])
    assert f"{sentence}<sup>8</sup>\n" in text
    assert (f"# {sentence}" in text) is is_title


@pytest.mark.parametrize(("end", "is_title"), [("of the", False), ("of us.", True)])
def test_bold_words_inside_a_sentence_are_no_title(end: str, *, is_title: bool) -> None:
    before = f"Each boat that is kept here over winter is in the care {end}"
    text = _text(lay_out("Boats", *[_PROSE] * 9, before, "* Winter Harbour", "and its master.", *[_PROSE] * 9))
    assert ("# Winter Harbour" in text) is is_title


def test_a_table_has_its_headers_units_and_years() -> None:
    text = _text(
        lay_cells(
            "Some prose that says what follows.",
            "| Year ended December 31,",
            "(in millions) | 2022 | 2021 | 2020",
            "Net sales | $ 34,229 | $35,355 | (1)",
            "Costs:",
            "Goods and | 19 | 18 | \x97",
            "Income taxes that are",
            "paid late | 3% | 4% | 5%",
        )
    )
    assert text.endswith(
        "| (in millions) | Year ended December 31, 2022 | Year ended December 31, 2021 | 2020 |\n"
        "| --- | --- | --- | --- |\n"
        "| Net sales | $ 34,229 | $35,355 | (1) |\n"
        "| Costs: |  |  |  |\n"
        "| Goods and | 19 | 18 | — |\n"
        "| Income taxes that are paid late | 3% | 4% | 5% |"
    )


def test_rows_outside_a_markdown_table_do_not_run_together() -> None:
    rows = ("Name | Symbol | Exchange", "Common stock | MMM | New York")
    text = _text(lay_cells("Prose says that the following", "is registered.", *rows))
    assert text.endswith("Prose says that the following\nis registered.  \n" + "  \n".join(rows))


def test_aligned_rows_of_words_are_a_table() -> None:
    rows = (
        "Pier | Duty",
        "North | Signs the | list",
        "| of boats |",
        "South | Lifts boats | crane",
        "West | Fees | desk",
    )
    table = (
        "| Pier | Duty |  |\n| --- | --- | --- |\n| North | Signs the of boats | list |\n"
        "| South | Lifts boats | crane |\n| West | Fees | desk |"
    )
    text = _text(lay_cells("Prose above it", f"* {rows[0]}", *rows[1:], "A short line"))
    assert text.endswith(f"Prose above it\n\n{table}\n\nA short line")


def test_aligned_words_that_leave_most_rows_incomplete_are_lines() -> None:
    code = ("tree | of", "| leaf | item", "| node | tree", "end | of")
    assert "| --- |" not in _text(lay_cells("Prose above it", *code, "A short line"))


def test_a_justified_line_has_no_cells() -> None:
    end = PdfLine(text="here", top=686, x=72 + 11 * (8 * 0.833 + 0.278))  # below the word that ends the line
    assert _text([*lay_out("MMMMMMMM here", first_top=700), PdfLine(text="lie", top=686), end]).endswith("\nlie here")
    assert _text([*lay_out("MMMMMMMM there", first_top=700), PdfLine(text="lie", top=686), end]).endswith("lie | here")
    below = [PdfLine(text=line.text, top=line.top - 14, x=line.x) for line in (PdfLine(text="by", top=686), end)]
    whole = _text([*lay_out("MMMMMMMM here", first_top=700), PdfLine(text="lie", top=686), end, *below])
    assert whole.endswith("\nlie here\nby here")
    first, second = ([PdfLine(text="mm", top=top, x=x) for x in (72, 120, 168)] for top in (700, 686))
    assert _text([*first, *second]).endswith("\nmm mm mm\nmm mm mm")


def _make_page(stream: str, *, font: str = "", page: str = "", more: str = "<< >>") -> bytes:
    """Return a PDF of one page that a stream draws, with further entries for its font and itself."""
    packed = zlib.compress(stream.encode("latin-1")).decode("latin-1")
    used = "/Resources << /Font << /F1 3 0 R >> >>"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Count 1 /Kids [7 0 R] >>",
        f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding {font} >>",
        more,
        "<< >>",
        f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n{packed}\nendstream",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 6 0 R {page} {used} >>",
    ]
    return assemble(objects)


def _convert_page(stream: str, *, page: str = "") -> str:
    return convert_pdf(_make_page(stream, page=page), "a.pdf").text


@pytest.mark.parametrize("matrix", ["0 1 -1 0 300 72", "-1 0 0 -1 500 700", "0 -1 1 0 300 700"])
def test_a_rotated_page_is_read(matrix: str) -> None:
    text = _convert_page(f"BT /F1 11 Tf {matrix} Tm (first line here) Tj 0 -20 Td (second one) Tj ET")
    assert text.endswith("first line here\nsecond one")


@pytest.mark.parametrize(
    "matrix", ["0 1 -1 0 60 690", "0 -1 1 0 300 760", "-1 0 0 -1 400 700", "0.7 0.7 -0.7 0.7 90 680"]
)
def test_words_in_another_direction_are_read_after_the_others(matrix: str) -> None:
    lines = "1 0 0 1 72 700 Tm (so we show that) Tj 0 -14 Td (it can be done with words) Tj"
    text = _convert_page(f"BT /F1 11 Tf {lines} /F1 20 Tf {matrix} Tm (Draft of December) Tj ET")
    assert text.endswith("so we show that\nit can be done with words\n\nDraft of December")


@pytest.mark.parametrize("kind", ["Widget /FT /Tx", "FreeText", "Stamp"])
def test_what_was_typed_into_a_form_is_read_and_links_stay(kind: str) -> None:
    drawn = "BT /F1 11 Tf 2 4 Td (Ann) Tj ET"
    form = "/Type /XObject /Subtype /Form /BBox [0 0 90 20] /Resources << /Font << /F1 3 0 R >> >>"
    field = f"/Type /Annot /Subtype /{kind} /F 4 /Rect [110 696 200 716] /AP << /N 4 0 R >>"
    link = "/Type /Annot /Subtype /Link /Rect [70 600 90 610] /Dest [7 0 R /Fit]"
    data = _make_page(
        "BT /F1 11 Tf 1 0 0 1 72 700 Tm (Name:) Tj ET",
        page=f"/Annots [<< {link} >> << {field} >>]",
        more=f"<< {form} /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
    )
    assert convert_pdf(data, "a.pdf").text.endswith("Name: Ann")
    with PdfFile(data, "a.pdf").open_page(0) as page:
        assert page is not None
        assert [(link.top, link.page) for link in page.links] == [(-610, 0)]


def _draw_table(*rows: tuple[str, ...], top: int = 700) -> str:
    """Draw a table with a line on both sides of each cell. A slash divides the lines of a cell."""
    edges = (70, 150, 330, 370, 410)
    drawn: list[str] = []
    for row in rows:
        height = 14 * max(cell.count("/") + 1 for cell in row) + 4
        drawn += (f"{x} {top - height} 0.5 {height} re f" for x in edges[: len(row) + 1])
        for x, cell in zip(edges, row, strict=False):
            for number, line in enumerate(cell.split("/")):
                drawn.append(f"BT /F1 11 Tf {x + 2} {top - 13 - 14 * number} Td ({line}) Tj ET")
        top -= height
    return "\n".join(drawn)


def test_lines_divide_the_cells_and_the_rows_of_a_table() -> None:
    duties = _draw_table(
        ("Role", "Duty", "Fee"),
        ("Harbour master", "keeps order on the quays, and/signs each permit", "10"),
        ("Pilot", "brings vessels in/and out", "12"),
        ("Clerk of works", "inspects the piles", "a small/sum"),
    )
    after = "BT /F1 11 Tf 72 520 Td (Deputies act if the holder is absent.) Tj ET"
    assert _convert_page(f"{duties}\n{after}").partition("\n\n")[2] == (
        "| Role | Duty | Fee |\n| --- | --- | --- |\n"
        "| Harbour master | keeps order on the quays, and signs each permit | 10 |\n"
        "| Pilot | brings vessels in and out | 12 |\n"
        "| Clerk of works | inspects the piles | a small sum |\n\n"
        "Deputies act if the holder is absent."
    )


def test_a_mark_in_a_table_with_lines_and_empty_cells_stays_in_its_column() -> None:
    marks = _draw_table(
        ("Item", "Sort", "Yes", "No"), ("Flares", "three years old", "x", ""), ("Jackets", "new", "", "x")
    )
    assert _convert_page(marks).endswith(
        "| Item | Sort | Yes | No |\n| Flares | three years old | x |  |\n| Jackets | new |  | x |"
    )


def test_text_outside_the_visible_page_is_left_out() -> None:
    stream = "BT /F1 11 Tf 1 0 0 1 20 700 Tm (14) Tj 80 0 Td (seen by all) Tj ET"
    assert _convert_page(stream, page="/CropBox [60 0 612 792]") == "# Page 1: seen by all\n\nseen by all"
    assert "14" in _convert_page(stream, page="/CropBox [700 800 900 900]")


def _convert_arabic(stream: str) -> str:
    return _convert_mapped(stream, "<41> <06440623> <42> <0643> <43> <0645> <44> <0646>")


def _convert_mapped(stream: str, letters: str) -> str:
    """Convert a page whose font has other letters than its codes say."""
    names = f"begincmap {len(letters.split()) // 2} beginbfchar {letters} endbfchar endcmap"
    more = f"<< /Length {len(names)} >>\nstream\n{names}\nendstream"
    return convert_pdf(_make_page(f"BT /F1 11 Tf {stream} ET", font="/ToUnicode 4 0 R", more=more), "a.pdf").text


def test_a_space_that_stands_for_several_characters_is_one() -> None:
    text = _convert_mapped("1 0 0 1 72 700 Tm (I love words) Tj", "<20> <0009000D002000A0>")
    assert text.endswith("\n\nI love words")


def test_a_raised_figure_of_the_font_itself_never_joins_a_number() -> None:
    text = _convert_mapped("1 0 0 1 72 700 Tm (In 1998\\263. All 5,120\\263 lie in 1998) Tj", "<B3> <0033>")
    assert text.endswith("In 1998<sup>3</sup>. All 5,120<sup>3</sup> lie in 1998")


def test_a_letter_of_two_code_units_is_whole() -> None:
    assert _convert_mapped("1 0 0 1 72 700 Tm (The x is) Tj", "<78> <D835DC65>").endswith("The \U0001d465 is")


def test_lines_of_a_script_without_spaces_are_joined_without_one() -> None:
    text = _convert_mapped("1 0 0 1 72 700 Tm (AB) Tj 0 -14 Td (BA) Tj", "<41> <6E2F> <42> <7FFC>")
    assert text.endswith("港翼翼港")


def test_arabic_ligatures_keep_their_order() -> None:
    assert "كلأك" in _convert_arabic("1 0 0 1 90 700 Tm (BAB BBB) Tj")


def test_a_line_from_right_to_left_is_read_so_on_a_page_of_english() -> None:
    english = "(In the end we trust, as many say) Tj"
    text = _convert_arabic(f"1 0 0 1 72 700 Tm {english} 1 0 0 1 120 600 Tm (CB) Tj 1 0 0 1 90 600 Tm (DCB) Tj")
    assert text.endswith("كم كمن")


def test_an_f_that_pdfium_has_dropped_is_restored_by_the_words_of_the_file() -> None:
    text = _text(lay_out("They differ.", "They may dif er. A lot of ice is the ice of the office."))
    assert text.endswith("They may differ. A lot of ice is the ice of the office.")


def test_a_hyphen_at_a_line_end_stays_if_other_lines_have_it() -> None:
    row: PageRow = make_row([_place("well-known compile", x=0)])
    joiner = LineJoiner([[row]])
    assert joiner.join("a well-", "known thing") == "a well-known thing"
    assert joiner.join("to com-", "pile it") == "to compile it"


def test_a_first_letter_of_several_lines_is_part_of_its_word() -> None:
    lines = [PdfLine(text="obody knew the harbour", top=700, x=106), PdfLine(text="as he did.", top=686, x=106)]
    assert "Nobody knew the harbour\nas" in _text([PdfLine(text="N", top=678, size=44), *lines])


def test_figures_of_two_columns_are_two_cells_even_if_they_are_close() -> None:
    assert _row(_place("9,035", x=0), _place("$488", x=28), _place("$(715)", x=51)) == ["9,035", "$488", "$(715)"]
    assert _row(_place("9,035", x=0), _place("$", x=28), _place("488", x=35)) == ["9,035", "$ 488"]
    narrow = [_place(text, x=x) for text, x in [("998", 0), ("1004", 50), ("###", 73), ("10", 100), ("000", 112)]]
    assert _row(*narrow) == ["998", "1004", "###", "10 000"]
    head = [_place(text, x=x) for text, x in [("2022", 0), ("$", 22), ("million", 29), ("2023", 90), ("$", 112)]]
    assert _row(*head, _place("million", x=119)) == ["2022 $ million", "2023 $ million"]
    assert _row(_place("net", x=0), _place("of", x=17), _place("5", x=29), _place("$3", x=36)) == ["net of 5 $3"]


def test_signs_join_figures_and_not_the_heads_beside_them() -> None:
    assert _row(_place("(4.2)", x=0), _place("%", x=40)) == ["(4.2)%"]
    assert _row(_place("—", x=0), _place("%", x=40)) == ["—%"]
    assert _row(_place("July", x=0), _place("3,", x=22), _place("%", x=40)) == ["July 3,", "%"]
    assert _row(_place("2022", x=0), _place("%", x=40)) == ["2022", "%"]
    assert _row(_place("150", x=0), _place("x", x=22)) == ["150x"]
    assert _row(_place("3", x=0), _place("x", x=22)) == ["3", "x"]


@pytest.mark.parametrize("drawn", read_rows("convert/pdf/text", "set_apart"))
def test_letters_that_are_set_apart_are_words(drawn: str) -> None:
    text = _convert_page(
        f"BT /F1 14 Tf 1 0 0 1 72 700 Tm {drawn} ET BT /F1 11 Tf 1 0 0 1 72 670 Tm (It is cold.) Tj ET"
    )
    assert text == "# NOTES OF24\n\nIt is cold."


@pytest.mark.parametrize(("drawn", "words"), read_rows("convert/pdf/text", "apart"))
def test_letters_between_spaces_and_a_few_variables_stay_apart(drawn: str, words: str) -> None:
    assert _convert_page(f"BT /F1 11 Tf 1 0 0 1 72 700 Tm {drawn} ET").endswith(f"\n{words}")


_CONTRACT = (
    "The tenant shall pay the rent on the first working day of each",
    "month to the account that the landlord has named. If the",
    "payment is late, the landlord may charge five euros for each",
    "day of delay, but no more than sixty euros in one month. The",
    "landlord shall repair the heating within three days after the",
    "tenant has told him that it does not work.",
)


@pytest.mark.parametrize(("x", "first", "step"), [(40, 1, 1), (40, 118, 1), (40, 5, 5), (36, 96, 1)])
def test_numbers_of_lines_are_left_out(x: float, first: int, step: int) -> None:
    pages: list[list[PdfLine]] = []
    for start, texts in ((0, _CONTRACT * 5), (30, _CONTRACT[:3])):
        lines = []
        for row, line in enumerate(texts):
            number = first + start + row
            lines.append(PdfLine(text=line, top=720 - 20 * row, x=80))
            if number % step == 0:
                lines.append(PdfLine(text=f"{number}", top=720 - 20 * row, x=x, size=9))
        pages.append(lines)
    text = _text(*pages)
    shown = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert shown == [*_CONTRACT * 5, *_CONTRACT[:3]]


def test_numbers_of_rows_and_of_items_stay() -> None:
    rows = [f"{number} | ripe apples | {number * 7}" for number in range(1, 9)]
    assert "ripe apples | 56 |" in _text(lay_cells("No. | Name | Pieces", *rows))
    items = [f"{number} | Apples from the north of the country {number}" for number in range(1, 9)]
    assert "8 | Apples from the north" in _text(lay_cells(*items))


def test_two_figures_side_by_side_never_become_one_number() -> None:
    lines = [
        PdfLine(text=text, top=700, x=x)
        for text, x in (("Hedges were", 72), ("47", 150), ("119", 172), ("in all", 200))
    ]
    assert "47 | 119" in _text([*lines, PdfLine(text="Some more words stand in this line", top=680)])


def test_a_word_in_latin_letters_keeps_its_order_in_a_line_from_right_to_left() -> None:
    line = "1 0 0 1 300 700 Tm (DCB) Tj 1 0 0 1 {} 700 Tm ({}) Tj 1 0 0 1 {} 700 Tm (BCD) Tj"
    for word in ("e.g.", "x-12", "x++", "3.5", "12%"):
        assert _convert_arabic(line.format(275, word, 248)).endswith(f"\nكمن {word} نمك"), word
    see = "1 0 0 1 250 700 Tm (see) Tj " + line.format(272, "x.y 7", 222)
    assert _convert_arabic(see).endswith("\nكمن see x.y 7 نمك")


def test_the_first_column_of_a_table_from_right_to_left_is_at_the_right() -> None:
    rows = [("DCB", "2024", "2025"), ("BCD", "1,250", "1,300"), ("CD", "35,400", "36,900"), ("xyz eds", "780", "810")]
    cells = [
        f"1 0 0 1 {x} {700 - 20 * number} Tm ({text}) Tj"
        for number, row in enumerate([*rows, ("DB", "", "")])
        for x, text in zip((400, 250, 100), row, strict=True)
    ]
    table = "| كمن | 2024 | 2025 |\n| --- | --- | --- |\n| نمك | 1,250 | 1,300 |\n| نم | 35,400 | 36,900 |"
    assert f"{table}\n| xyz eds | 780 | 810 |" in _convert_arabic(" ".join(cells))


@pytest.mark.parametrize("offset", [0, 5.5, 11])
def test_a_label_of_several_lines_belongs_to_its_row_wherever_the_figures_are(offset: float) -> None:
    lines = lay_cells("Part of the yard | 2023 | 2022", first_top=720)
    for number, label in enumerate(
        (("Wages of", "Helpers"), ("Taxes that are", "Paid late"), ("Costs of", "Repairs"), ("Rent",))
    ):
        top = 690 - 34 * number
        lines += [PdfLine(text=text, top=top - 11 * row, x=72, size=9) for row, text in enumerate(label)]
        middle = top - (offset if len(label) > 1 else 0)
        lines += [PdfLine(text=f"{number + 1},{x}", top=middle, x=x, size=9) for x in (300, 380)]
    text = _text([*lines, PdfLine(text="All the figures are in thousands of crowns.", top=520)])
    assert text.endswith(
        "| Wages of Helpers | 1,300 | 1,380 |\n| Taxes that are Paid late | 2,300 | 2,380 |\n"
        "| Costs of Repairs | 3,300 | 3,380 |\n| Rent | 4,300 | 4,380 |\n\nAll the figures are in thousands of crowns."
    )
