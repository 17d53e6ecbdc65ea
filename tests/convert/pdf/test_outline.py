"""Outlines of PDFs by contents pages, numbers, typography and captions."""

from dataclasses import replace

from roamtui.convert.pdf.convert import convert_pdf
from tests.convert.sample_pdf import PdfLine, lay_cells, lay_out, make_pdf
from tests.convert.samples import read_outline

_PROSE = [
    "All of these words stand on one line of a page of prose, as they",
    "do in any book that anyone has read.",
] * 9


def _outline(pages: list[list[PdfLine]]) -> list[tuple[int, str]]:
    return read_outline(convert_pdf(make_pdf(pages), "a.pdf").text)


def _number(lines: list[PdfLine], number: int) -> list[PdfLine]:
    return [*lines, PdfLine(text=str(number), top=40, x=300)]


def _book() -> list[list[PdfLine]]:
    contents = lay_cells(
        "Contents", "Boats | 1", "Hulls of wood and | 2", "of steel", "Masts | 4", "Sails | 5", "Ropes | 6"
    )
    titles = {1: "BOATS", 2: "Hulls of wood and of steel", 4: "Masts", 5: "Sails", 6: "Ropes"}
    pages = [lay_out("A cover"), contents]
    pages += [_number(lay_out(*([titles[n]] if n in titles else []), *_PROSE), n) for n in range(1, 8)]
    return pages


def test_a_contents_page_is_resolved_by_printed_page_numbers() -> None:
    converted = convert_pdf(make_pdf(_book()), "a.pdf")
    titles = [title for _, title in read_outline(converted.text)]
    assert titles == ["BOATS", "Hulls of wood and of steel", "Masts", "Sails", "Ropes"]
    assert converted.text.index("# Masts") >= converted.page_starts[5]
    assert "| Masts | 4 |" in converted.text


def test_a_contents_page_without_page_numbers_is_resolved_by_its_links() -> None:
    titles = ["Boats", "Keels", "Masts", "Sails", "Ropes"]
    contents = [replace(line, links_to=2 + number) for number, line in enumerate(lay_out(*titles))]
    pages = [lay_out(*_PROSE, title, *_PROSE) for title in titles]
    converted = convert_pdf(make_pdf([lay_out("A cover"), contents, *pages]), "a.pdf")
    assert [title for _, title in read_outline(converted.text)] == titles
    starts = converted.page_starts[2:]
    places = [converted.text.index(f"# {title}") for title in titles]
    assert all(start < place for start, place in zip(starts, places, strict=True))
    assert all(place < end for place, end in zip(places, starts[1:], strict=False))


def test_the_numbers_of_a_contents_page_give_the_levels() -> None:
    titles = ["1 Boats", "1.1 Hulls", "1.2 Keels", "2 Masts", "2.1 Sails"]
    pages = [_number(lay_out(title, *_PROSE), number) for number, title in enumerate(titles, start=1)]
    contents = lay_cells("Contents", *(f"{title} | {number}" for number, title in enumerate(titles, start=1)))
    assert _outline([contents, *pages]) == [(1 + title.count("."), title) for title in titles]


def _filing() -> list[list[PdfLine]]:
    names = {"1": "Business", "1A": "Risk Factors", "7": "Discussion", "8": "Financial Statements", "9": "Changes"}
    rows = [
        "PART I",
        *(f"Item {number}. {name} | {page}" for page, (number, name) in enumerate(names.items(), start=2)),
    ]
    pages = [lay_cells("Table of Contents", *rows)]
    for page, (number, name) in enumerate(names.items(), start=2):
        pages.append(
            _number(lay_out(f"* ITEM {number}. {name.upper()}", *_PROSE, "as Item 1A of this report says."), page)
        )
    return pages


def test_an_item_is_where_its_title_is_even_if_the_contents_page_is_wrong() -> None:
    pages = _filing()
    pages[0] = [PdfLine(text="6", top=line.top, x=line.x) if line.text == "3" else line for line in pages[0]]
    converted = convert_pdf(make_pdf(pages), "a.pdf")
    assert converted.page_starts[2] <= converted.text.index("# ITEM 1A.") < converted.page_starts[3]


def test_numbered_titles_are_headings_and_numbered_lists_are_not() -> None:
    first = lay_out(
        "# A paper", "", "* 1 Introduction", *_PROSE[:10], "", "* 1.1 Words", *_PROSE[:6], "1. a list", "2. of two"
    )
    title = "* 3 End", "* of", "* text"
    second = lay_out("* 2 Method", *_PROSE[:10], "", "* 2.1 Rules", *_PROSE[:4], "", *title, *_PROSE[:4])
    outline = [entry for entry in _outline([first, second]) if entry[1][0].isdigit()]
    assert outline == [(1, "1 Introduction"), (2, "1.1 Words"), (1, "2 Method"), (2, "2.1 Rules"), (1, "3 End of text")]


def test_headers_of_tables_are_no_titles() -> None:
    words = lay_cells("* Register | Value", "USER | The user of the thread", "OTHER | The other user")
    figures = lay_cells("* Boats by year", "* Item | 2022 | 2021", "* Wood", "Oak | 5 | 6", "Ash | 7 | 8")
    prose = lay_out(*_PROSE, "", "* A story", *_PROSE, first_top=600)
    pages = [lay_out("# Boats", *_PROSE, *_PROSE), [*words, *prose], [*figures, *prose]]
    assert [title for _, title in _outline(pages)] == ["Boats", "A story", "A story"]


def test_a_form_has_its_parts_and_not_its_numbered_lines() -> None:
    lines = [f"{number} Name, birth, work, town and street of the {number}. person" for number in range(1, 9)]
    parts = [f"* Part {letter}. Person {letter}" for letter in "ABCD"]
    shown = [line for number, part in enumerate(parts) for line in ("", part, *lines[2 * number : 2 * number + 2])]
    assert _outline([lay_out("# Application", "Please write clearly.", *shown)]) == [
        (1, "Application"),
        *((2, part.removeprefix("* ")) for part in parts),
    ]
