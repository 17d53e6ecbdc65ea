"""Rows of separated values as tables: delimiters, headers, sections of rows, and files that are no tables."""

import csv
import io
import re

import pytest

from roamtui.convert.separated import convert_separated
from roamtui.sources.read import to_source_text
from tests.case_files import read_rows
from tests.convert.samples import read_outline


@pytest.mark.parametrize(("name", "text", "lines"), read_rows("convert/separated", "tables"))
def test_rows_are_a_table_with_their_header(name: str, text: str, lines: list[str]) -> None:
    raw = to_source_text(text.encode(), source=name, name=name)
    head, *rows = [f"| {line} |" for line in lines]
    rule = f"|{' --- |' * (lines[0].count(' | ') + 1)}"
    title, empty, *table = raw.text.split("\n")
    assert table == [head, rule, *rows, ""]
    assert re.fullmatch(r"## .+ \((?:row 2|rows 2–\d)\)", title)
    assert not empty
    assert raw.is_converted


@pytest.mark.parametrize(("text", "title"), read_rows("convert/separated", "row_numbers"))
def test_rows_have_the_numbers_of_a_spreadsheet(text: str, title: str) -> None:
    assert f"({title})\n" in convert_separated(text.encode(), "a.csv").text


@pytest.mark.parametrize("sign", ['"', "", " "])
def test_a_sign_that_separates_no_cells_is_not_taken_as_the_separator(sign: str) -> None:
    text = convert_separated(f"sep={sign}\r\nname,fee\r\nOslo,12\r\nhome,sep=;\r\n".encode(), "a.csv").text
    assert text.startswith("sep=")
    assert text.endswith("\n\n| name | fee |\n| --- | --- |\n| Oslo | 12 |\n| home | sep=; |\n")


def test_many_rows_are_sections_that_lose_nothing() -> None:
    rows = [["id", "note"], *([f"plant {number}", f'says "{number}", twice'] for number in range(2_000))]
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    text = convert_separated(written.getvalue().encode(), "a.csv").text
    titles = [title for _, title in read_outline(text)]
    assert re.match(r"id: plant 0 – plant \d+ \(rows 2–\d+\)", titles[0])
    assert re.search(r" – plant 1999 \(rows \d+–2001\)$", titles[-1])
    assert 16 < len(titles) < 40
    assert text.count("| id | note |") == len(titles)
    assert [line for line in text.splitlines() if line.startswith("| plant")] == [f"| {a} | {b} |" for a, b in rows[1:]]


def test_one_wide_row_makes_no_other_row_wider() -> None:
    wide = ",".join(f"x{number}" for number in range(12_000))
    for text in ("a,b\n" * 4_000 + wide, f"{wide}\n" + "a,b\n" * 4_000, "1,2\n" * 4_000 + wide):
        converted = convert_separated(text.encode(), "a.csv").text
        assert len(converted) < 15 * len(text)
        assert converted.count("x11999 |") >= 1
        assert converted.count("| a | b |") + converted.count("| 1 | 2 |") >= 4_000


def test_cells_beyond_the_header_are_shown() -> None:
    rows = ["name,price", *["rose,3"] * 1_000, "oak,40,old,tall", *["ash,50"] * 1_000]
    text = convert_separated("\n".join(rows).encode(), "a.csv").text
    section = next(part for part in text.split("\n## ") if "oak" in part)
    assert "| name | price |  |  |\n| --- | --- | --- | --- |\n" in section
    assert "\n| oak | 40 | old | tall |\n" in section
    assert text.count("| name | price |  |  |") == 1


def test_other_text_stays_as_it_is() -> None:
    for name, text in (("a.csv", "just words\nand more\n"), ("a.csv", ""), ("a.txt", "a,b\n1,2\n")):
        raw = to_source_text(text.encode(), source=name, name=name)
        assert (raw.text, raw.is_converted) == (text, False)


def test_lines_above_a_table_are_paragraphs() -> None:
    text = (
        "Report of the *harbour*, office\nCreated: 2025-03-01\n\nPort;Fee;Note;Size\nBergen;40,5;a;1\nOslo;12,0;b;2\n"
    )
    raw = to_source_text(text.encode(), source="a.csv", name="a.csv")
    assert raw.text == (
        "Report of the \\*harbour\\*, office\n\nCreated: 2025-03-01\n\n## Port: Bergen – Oslo (rows 5–6)\n\n"
        "| Port | Fee | Note | Size |\n| --- | --- | --- | --- |\n| Bergen | 40,5 | a | 1 |\n| Oslo | 12,0 | b | 2 |\n"
    )


def test_rows_of_any_length_keep_their_heads_below_a_title() -> None:
    text = "Stock list\nItem,Qty,Note\nRope,3\nOar,2,new,red\nSail,1\nBoat,1,old\n"
    assert to_source_text(text.encode(), source="a.csv", name="a.csv").text == (
        "Stock list\n\n## Item: Rope – Boat (rows 3–6)\n\n| Item | Qty | Note |  |\n| --- | --- | --- | --- |\n"
        "| Rope | 3 |\n| Oar | 2 | new | red |\n| Sail | 1 |\n| Boat | 1 | old |\n"
    )


def test_an_open_quotation_mark_takes_no_other_rows() -> None:
    for text in ('a,b\n1,"x\n2,y\n3,z\n', 'a\tb\n1\t"x\n2\ty\n3\tz\n'):
        converted = convert_separated(text.encode(), "a.csv")
        assert '| 1 | "x |\n| 2 | y |\n| 3 | z |' in converted.text
        assert converted.notes == ("a quotation mark is not closed, so all of them are shown as they are.",)
    for end in ('4,"z"\n', '4,"z"\n5,w\n'):
        assert (
            '| 1 | "x |\n| 2 | y |\n| 4 | "z" |' in convert_separated(f'a,b\n1,"x\n2,y\n{end}'.encode(), "a.csv").text
        )
    for rows in (b'3,"y\n4"', b'5" pipe,6', b'"5" pipe,6'):
        closed = convert_separated(b'a,b\n1,"x\n2"\n' + rows + b"\n", "a.csv")
        assert closed.notes == ()
        assert "| 1 | x 2 |" in closed.text
