"""PDFs as Markdown: sections by bookmarks or typography, page starts, notes and errors."""

import pytest

from roamtui.convert.pdf.convert import convert_pdf
from roamtui.document.library import Library
from roamtui.document.parse import parse_source_text
from roamtui.errors import SourceError
from roamtui.quotes.spans import join_pages
from roamtui.sources.read import to_source_text
from roamtui.text import Span
from tests.convert.sample_pdf import PdfLine, assemble, lay_cells, lay_out, make_pdf, protect, write_bomb
from tests.convert.samples import read_outline


def test_bookmarks_are_the_outline() -> None:
    pages = [lay_out("Cover"), lay_out("1 Hulls", "text"), lay_out("more", "Masts", "text two"), lay_out("last")]
    bookmarks = [(1, "Part One", 0), (2, "Hulls", 1), (3, "Deep", 1), (2, "Masts", 2), (1, "End", 3)]
    converted = convert_pdf(make_pdf(pages, bookmarks=bookmarks, title="Boats"), "a.pdf")
    assert read_outline(converted.text) == [(1, "Part One"), (2, "1 Hulls"), (3, "Deep"), (2, "Masts"), (1, "End")]
    assert converted.title == "Boats"
    assert "more\n\n## Masts\n\ntext two" in converted.text


def test_without_bookmarks_large_and_bold_letters_are_headings() -> None:
    first = lay_out("# Boats", "", "A boat floats.", "It does.", "", "## Hulls", "", "A hull is hollow.", "Always.")
    second = lay_out("* Planks", "A plank is flat.", "It is.", "", "## Sails of", "## all kinds", "", "A sail is wide.")
    text = convert_pdf(make_pdf([first, second]), "a.pdf").text
    assert read_outline(text) == [(1, "Boats"), (2, "Hulls"), (3, "Planks"), (2, "Sails of all kinds")]


def test_without_either_each_page_is_a_section_named_by_its_first_words() -> None:
    converted = convert_pdf(make_pdf([lay_out("one"), lay_out("two")]), "a.pdf")
    assert converted.text == "# Page 1: one\n\none\n\n# Page 2: two\n\ntwo"
    assert converted.text[converted.page_starts[1] :].startswith("# Page 2: two")
    assert converted.has_page_titles


def test_a_title_that_looks_like_one_of_a_page_is_a_title() -> None:
    data = make_pdf([lay_out("One"), lay_out("Page 2: two", "text")], bookmarks=[(1, "One", 0), (1, "Page 2: two", 1)])
    library = Library(source="a.pdf", root=parse_source_text(to_source_text(data, source="a.pdf", name="a.pdf")))
    root = library.root
    assert "# Page 2: two" in root.text
    assert "Page 2: two" in join_pages(library, Span(doc="", start=0, end=len(root.text)))


def test_lines_become_paragraphs_and_hyphenated_words_are_joined() -> None:
    lines = lay_out("A boat floats on wa-", "ter.", "", "", "Well-", "Known.", "", "", "\x95 item")
    text = convert_pdf(make_pdf([lines]), "a.pdf").text
    assert text.endswith("A boat floats on water.\n\nWell-Known.\n\n- item")


_OPEN_ROW = "For all the boats that are kept here over winter, the office charges"


@pytest.mark.parametrize(
    ("last", "first", "is_continued"),
    [
        (_OPEN_ROW, "a fee.", True),
        (_OPEN_ROW, "$17 million, unless they belong to the harbour and the harbour master", True),
        (_OPEN_ROW, "Winter Fees", False),
        (_OPEN_ROW, "(b) a fee of $17 million, unless they belong to the harbour and to us", False),
        (f"{_OPEN_ROW}.", "Boats that belong to the harbour and to its master are free of charge", False),
    ],
)
def test_a_paragraph_that_goes_on_over_a_page_end_is_one(last: str, first: str, *, is_continued: bool) -> None:
    text = convert_pdf(make_pdf([lay_out(last), lay_out(first)], bookmarks=[(1, "Fees", 0)]), "a.pdf").text
    assert (f"{last}\n{first}" in text) is is_continued


def test_a_word_that_a_page_end_divides_is_whole() -> None:
    pages = [lay_out("The harbour is deep", "and a boat floats on wa-"), lay_out("ter. It is", "wood.")]
    converted = convert_pdf(make_pdf(pages, bookmarks=[(1, "Boats", 0)]), "a.pdf")
    assert converted.text.endswith("and a boat floats on water.\nIt is\nwood.")
    assert converted.text[converted.page_starts[1] :] == "It is\nwood."


def test_no_line_becomes_markdown() -> None:
    lines = [
        PdfLine(text=text, top=700 - 14 * row) for row, text in enumerate(["# a", "b", "---", "<!-- c", "```", "d"])
    ]
    assert read_outline(convert_pdf(make_pdf([lines]), "a.pdf").text) == [(1, "Page 1: # a b")]


_LABELS = "0 << /S /r /St 3 >> 2 << /S /D /St 3 >> 3 << /P (A-) /S /D >> 4 << /P ([x]\\(http://a\\)) >>"


def test_printed_page_numbers_are_kept_if_they_differ_from_the_counted_ones() -> None:
    pages = [lay_out(f"Words of page {number}.") for number in range(1, 6)]
    converted = convert_pdf(make_pdf(pages, labels=_LABELS), "a.pdf")
    assert converted.page_labels == ("iii", "iv", "", "A-1", "")
    for labels in ("", "0 << /S /D >>"):
        assert convert_pdf(make_pdf(pages, labels=labels), "a.pdf").page_labels == ()


@pytest.mark.parametrize("count", [3, 4, 8])
def test_running_heads_are_there_once(count: int) -> None:
    pages = [
        lay_out(
            f"Chapter {number // 3}",
            "The Book of Boats",
            "",
            f"text {number}00",
            f"body {number * number}",
            "",
            str(number + 5),
        )
        for number in range(count)
    ]
    converted = convert_pdf(make_pdf(pages, bookmarks=[(1, "Start", 0)]), "a.pdf")
    assert converted.text.count("\nThe Book of Boats\n") == 1
    assert "12" not in converted.text
    assert converted.text.count("body") == count


def test_a_running_head_is_kept_where_it_is_in_no_sentence() -> None:
    ends = ["a boat and", "a sail and", "a rope.", "an oar,", "a mast", "an end."]
    pages = [[f"It has {end}", ""] for end in ends]
    heads: list[list[str]] = [[], *[["The Book of Boats", ""]] * 5]
    data = make_pdf([lay_out(*head, *page) for head, page in zip(heads, pages, strict=True)])
    text = convert_pdf(data, "a.pdf").text
    assert text.count("\nThe Book of Boats\n") == 1
    assert "It has a rope.\n\n# Page 4: The Book of Boats" in text


def test_heads_of_a_table_on_several_pages_are_not_running_heads() -> None:
    pages = [
        [
            PdfLine(text="The Book of Boats", top=740),
            *lay_cells("| Quarter | Half", f"Sales | {n}1 | {n}2", f"Costs | {n}3 | {n}4"),
            *lay_out("Ships called at the harbour.", "So did boats.", first_top=600),
        ]
        for n in range(1, 6)
    ]
    text = convert_pdf(make_pdf(pages), "a.pdf").text
    assert text.count("|  | Quarter | Half |") == 5
    assert text.count("\nThe Book of Boats\n") == 1


@pytest.mark.parametrize("title", ["# Results 2019", "# Exhibit 0", "Exhibit 0", "# 2019"])
def test_a_title_that_ends_in_a_growing_number_stays(title: str) -> None:
    words, _, first = title.rpartition(" ")
    pages = [
        [
            *lay_out(f"{words} {int(first) + number}", "", f"text {number}00", *["Ships called at the harbour."] * 6),
            PdfLine(text=str(number + 1), top=30, size=9),
        ]
        for number in range(5)
    ]
    text = convert_pdf(make_pdf(pages), "a.pdf").text
    name = words.removeprefix("#").strip()
    for number in range(5):
        assert f"{name} {int(first) + number}".strip() in text
        assert f"\n{number + 1}\n" not in text


def test_pages_with_only_pictures_are_noted_and_blank_ones_are_not() -> None:
    pages = [lay_out("a"), [], lay_out("b"), [], []]
    assert convert_pdf(make_pdf(pages), "a.pdf").notes == ()
    drawn = make_pdf(pages, empty="0 0 m 9 9 l S")
    (note,) = convert_pdf(drawn, "a.pdf").notes
    assert note.startswith("pages without text: 2, 4, 5. ")
    assert convert_pdf(drawn, "a.pdf").page_starts[-1] > 0


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (protect(make_pdf([lay_out("x")])), "password-protected"),
        (make_pdf([[], []]), "contains no text.*--ocr"),
        (make_pdf([]), "is damaged: it has no page"),
        (b"%PDF-1.7\nnothing", "is a damaged PDF"),
        (make_pdf([lay_out("x")])[:120], "is a damaged PDF"),
        (assemble(["<< /Type /Catalog /Pages 1 0 R >>", "", "", "", "<< >>"]), "contains no text"),
    ],
    ids=["password", "scanned", "empty", "broken", "cut", "circle"],
)
def test_an_unreadable_file_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(SourceError, match=reason) as refusal:
        convert_pdf(data, "a.pdf")
    assert str(refusal.value).startswith("a.pdf ")


def test_a_page_that_unpacks_to_too_much_is_left_out() -> None:
    kids = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>"
    pages = "<< /Type /Pages /Count 999999999 /Kids [3 0 R] >>"
    bomb = assemble(["<< /Type /Catalog /Pages 2 0 R >>", pages, kids, write_bomb(80_000_000), "<< >>"])
    with pytest.raises(SourceError, match="contains no text"):
        convert_pdf(bomb, "a.pdf")
    assert len(bomb) < 200_000


def test_a_title_that_no_person_would_give_to_the_file_is_none() -> None:
    for metadata in ("0000764478-23-000041", "boats_10k_v2", "untitled 3"):
        assert not convert_pdf(make_pdf([lay_out("They float.")], title=metadata), "a.pdf").title
