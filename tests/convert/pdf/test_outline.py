"""Outlines of PDFs by contents pages, numbers, typography and captions."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

import pytest

from roamtui.convert.pdf.convert import convert_pdf
from tests.convert.sample_pdf import PdfLine, lay_cells, lay_out, make_pdf
from tests.convert.samples import read_outline

_PROSE = [
    "All of these words stand on one line of a page of prose, as they",
    "do in any book that anyone has read.",
] * 9


def _outline(pages: list[list[PdfLine]]) -> list[tuple[int, str]]:
    return read_outline(convert_pdf(make_pdf(pages), "a.pdf").text)


def _outline_marked(pages: list[list[PdfLine]], bookmarks: list[tuple[int, str, int]]) -> list[tuple[int, str]]:
    return read_outline(convert_pdf(make_pdf(pages, bookmarks=bookmarks), "a.pdf").text)


def _find_pages(data: bytes, titles: Sequence[str]) -> list[int]:
    """Return the 1-based pages of the headings with these titles, which must be all headings of the file."""
    converted = convert_pdf(data, "a.pdf")
    assert [title for _, title in read_outline(converted.text)] == list(titles)
    return [bisect_right(converted.page_starts, converted.text.index(f"# {title}")) for title in titles]


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


def test_a_listed_title_continues_with_a_word_in_letters_of_numerals() -> None:
    titles = ["Boats", "Duties of a", "Civil mast", "Sails", "Noted: a", "Mix of ropes"]
    pages = [0, 1, 1, 2, 3, 3]
    contents = [replace(line, links_to=1 + page) for page, line in zip(pages, lay_out(*titles), strict=True)]
    found = ["Boats", "Duties of a Civil mast", "Sails", "Noted: a Mix of ropes"]
    assert _outline([contents, *(lay_out(f"* {title}", *_PROSE) for title in found)]) == [(1, each) for each in found]


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


def test_a_listed_title_is_the_line_on_its_page_without_years_and_page_number() -> None:
    said = ["Income", "Loss (net)", "Balance Sheet", "Cash Flows", "Equity"]
    rows = [f"{title.split(' (')[0]} for 2022, 2021 and 2020 | {page}" for page, title in enumerate(said, start=2)]
    contents = [
        replace(line, links_to=number // 2 + 1)  # the end of the page before
        for number, line in enumerate(lay_cells(*rows))
    ]
    pages = [lay_out(*_PROSE), *(lay_out(f"* {title}", "* Years ended in May", *_PROSE) for title in said)]
    numbered = [_number(page, number) for number, page in enumerate(pages, start=1)]
    titles = ["Income", "Loss for 2022, 2021 and 2020", "Balance Sheet", "Cash Flows", "Equity"]
    assert _find_pages(make_pdf([contents, *numbered]), titles) == [3, 4, 5, 6, 7]


@pytest.mark.parametrize("is_linked", [False, True])
def test_parts_contain_their_items(*, is_linked: bool) -> None:
    items = ["Item 1. Boats", "Item 2. Masts", "Item 3. Sails", "Item 4. Ropes", "Item 5. Oars"]
    rows = [f"{item} | {number}" for number, item in enumerate(items, start=2)]
    contents = lay_cells("Contents", "PART I", *rows[:2], "PART II", *rows[2:])
    if is_linked:  # each title to its page, and the second part to the page before
        pages_by_top = {686: 1, 672: 1, 658: 2, 644: 2, 630: 3, 616: 4, 602: 5}
        contents = [replace(line, links_to=pages_by_top.get(int(line.top))) for line in contents]
    texts = [[f"* {item}", *_PROSE] for item in items]
    texts[2] = [*_PROSE[:4], "* PART II", *texts[2]]
    pages = [_number(lay_out(*text), number) for number, text in enumerate(texts, start=2)]
    outline = [(2, item) for item in items]
    assert _outline([contents, *pages]) == [(1, "PART I"), *outline[:2], (1, "PART II"), *outline[2:]]


def test_a_listed_number_is_found_in_front_of_text_and_of_another_title() -> None:
    titles = ["1 Boats", "2 Principal Masts", "3 Sails", "4 Ropes", "5 Oars"]
    contents = lay_cells("Contents", *(f"{title} | {number}" for number, title in enumerate(titles, start=1)))
    said = ["* 1 Boats", "* 2 Principle Masts", "3 Sails: they are of linen", "* 4 Ropes", "* 5 Oars"]
    texts = [lay_out(*_PROSE[:4], title, *_PROSE[:4]) for title in said]
    pages = [_number(text, number) for number, text in enumerate(texts, start=1)]
    converted = convert_pdf(make_pdf([contents, *pages]), "a.pdf")
    found = [title.replace("Principal", "Principle") for title in titles]
    assert [title for _, title in read_outline(converted.text)] == found
    assert "# 3 Sails\n\n3 Sails: they are of linen" in converted.text


def test_titles_that_their_page_does_not_say_stay_in_order_and_in_one_section() -> None:
    titles = ["Boats", "Masts", "Cash", "Sails", "Ropes"]
    bookmarks = [(1, title, page) for title, page in zip(titles, (0, 1, 1, 1, 2), strict=True)]
    pages = [lay_out("* Boats", *_PROSE), lay_out("* Masts", *_PROSE), lay_out("* Ropes", *_PROSE)]
    data = make_pdf(pages, bookmarks=bookmarks)
    assert _find_pages(data, ["Boats", "Masts", "Cash; Sails", "Ropes"]) == [1, 2, 2, 3]
    assert convert_pdf(data, "a.pdf").text.count("Masts") == 1


def test_bookmarks_that_say_nothing_give_way_to_the_titles_of_the_pages() -> None:
    titles = ["Boats", "Masts", "Sails"]
    pages = [lay_out(f"# {title}", "", *_PROSE) for title in titles]
    bookmarks = [(1, name, page) for page, name in enumerate(("Slide 1", "Microsoft Word - masts", "sails.doc"))]
    assert _outline_marked(pages, bookmarks) == [(1, title) for title in titles]


def test_an_item_of_a_list_is_no_listed_title() -> None:
    pages = [lay_out(f"- {title};", *_PROSE, f"* {title}", *_PROSE) for title in ("Boats", "Masts", "Sails")]
    bookmarks = [(1, title, page) for page, title in enumerate(("Boats", "Masts", "Sails"))]
    assert [title for _, title in _outline_marked(pages, bookmarks)] == ["Boats", "Masts", "Sails"]


def test_text_before_a_late_index_has_headings() -> None:
    chapters = ["Boats", "Masts", "Sails"]
    pages = [lay_out(f"* {chapters[number // 5]}" if number % 5 == 0 else "", *_PROSE, *_PROSE) for number in range(15)]
    later = [lay_out(f"* {title}", *_PROSE) for title in ("Income", "Cash", "Equity")]
    bookmarks = [(1, title, page) for page, title in enumerate(("Income", "Cash", "Equity"), start=15)]
    titles = [title for _, title in _outline_marked([*pages, *later], bookmarks)]
    assert titles == [*chapters, "Income", "Cash", "Equity"]


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


@pytest.mark.parametrize("source", ["bookmarks", "numbers", "looks"])
@pytest.mark.parametrize(
    ("above", "below", "title"),
    [
        ("Short-", "term cash", "Short-term cash"),
        ("COVID-", "related costs", "COVID-related costs"),
        ("Har-", "bours", "Harbours"),
        ("HAR-", "BOURS", "HARBOURS"),
    ],
)
def test_a_title_in_two_rows_keeps_its_hyphen_if_the_text_does(source: str, above: str, below: str, title: str) -> None:
    prose = [*_PROSE, "We have short-term debts, and harbours."]
    numbers = ("1 ", "2 ", "3 ") if source == "numbers" else ("", "", "")
    titles = [[f"* {numbers[0]}{above}", f"* {below}"], [f"* {numbers[1]}Masts"], [f"* {numbers[2]}Sails"]]
    bookmarks = [(1, listed, page) for page, listed in enumerate((title, "Masts", "Sails"))]
    pages = [lay_out(*rows, *prose) for rows in titles]
    outline = _outline_marked(pages, bookmarks if source == "bookmarks" else [])
    assert [found for _, found in outline] == [numbers[0] + title, f"{numbers[1]}Masts", f"{numbers[2]}Sails"]
