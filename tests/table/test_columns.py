"""Questions of tables: their files, their types, and which values fit."""

from pathlib import Path

import pytest

from roamtui.errors import UsageError
from roamtui.table.columns import Column, ColumnType, parse_question, read_columns
from tests.case_files import read_case

TOML = read_case("questions.toml")


def test_a_file_of_questions(tmp_path: Path) -> None:
    (tmp_path / "questions.toml").write_text(TOML, "utf-8")
    assert read_columns(tmp_path / "questions.toml") == (
        Column(question="How long is the notice period?", name="Notice", type=ColumnType.NUMBER),
        Column(question="Which colour is it?", choices=("red", "green")),
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is not a file of questions"),
        ("[[questions]]\nquestion = 3\n", "is not a file of questions"),
        ("[[questions]\n", "is not a file of questions"),
        ('[[questions]]\nquestion = " "\n', "is not a file of questions"),
        ('[[questions]]\nquestion = "Why?"\ntype = "colour"\n', "is not a file of questions"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "questions.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=complaint) as error:
        read_columns(path)
    assert "\n" not in str(error.value)
    with pytest.raises(UsageError, match="could not read"):
        read_columns(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("typed", "question", "kind", "choices"),
    [
        ("Who signs?", "Who signs?", ColumnType.TEXT, ()),
        ("May it be assigned? [yes/no]", "May it be assigned?", ColumnType.YES_NO, ()),
        ("Since when? [Date]", "Since when?", ColumnType.DATE, ()),
        ("Which? [red | dark green]", "Which?", ColumnType.TEXT, ("red", "dark green")),
        ("What does [sic] mean? [sic]", "What does [sic] mean? [sic]", ColumnType.TEXT, ()),
    ],
)
def test_a_type_may_follow_a_typed_question(typed: str, question: str, kind: str, choices: tuple[str, ...]) -> None:
    assert parse_question(typed) == Column(question=question, type=ColumnType(kind), choices=choices)


@pytest.mark.parametrize(
    ("kind", "fitting", "others"),
    [
        ("yes_no", ["yes", "No"], ["yes, but", "true", ""]),
        (
            "number",
            ["60 days", "$10,000", "USD 5.2 million", "12.5 %", "-3", "2 euros a day", "€ 4"],
            ["sixty", "5 or 6", ""],
        ),
        (
            "date",
            ["2024-05-01", "2024-05", "2024"],
            ["2024-13", "2024-02-31", "soon", "0000", "May 1, 2024"],
        ),
        ("red | green", ["red", "Green"], ["blue", "reddish"]),
        ("text", ["anything"], [""]),
    ],
)
def test_a_value_fits_its_type_or_is_marked(kind: str, fitting: list[str], others: list[str]) -> None:
    column = parse_question(f"? [{kind}]")
    assert [value for value in fitting if not column.fits(value)] == []
    assert [value for value in others if column.fits(value)] == []
