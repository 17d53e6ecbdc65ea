"""Questions of tables: their files, their types, and which values fit."""

from pathlib import Path

import pytest

from roamtui.errors import UsageError
from roamtui.table.columns import Column, ColumnType, keep_names, parse_column, read_columns
from tests.case_files import read_case, read_rows

TOML = read_case("questions.toml")


def test_a_file_of_questions(tmp_path: Path) -> None:
    (tmp_path / "questions.toml").write_text(TOML, "utf-8")
    assert read_columns(tmp_path / "questions.toml") == (
        Column(question="How long is the notice period?", name="Notice", type=ColumnType.NUMBER),
        Column(question="Which colour is it?", choices=("red", "green")),
    )


@pytest.mark.parametrize(("text", "complaint"), read_rows("table/columns", "wrong_files"))
def test_a_wrong_file_is_refused_in_one_sentence(text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "questions.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=complaint) as error:
        read_columns(path)
    assert "\n" not in str(error.value)
    with pytest.raises(UsageError, match="could not read"):
        read_columns(tmp_path / "none.toml")


@pytest.mark.parametrize(("typed", "question", "kind", "choices"), read_rows("table/columns", "types"))
def test_a_type_may_follow_a_typed_question(typed: str, question: str, kind: str, choices: list[str]) -> None:
    assert parse_column(typed) == Column(question=question, type=ColumnType(kind), choices=tuple(choices))


def test_an_unknown_type_is_refused_with_the_types_there_are() -> None:
    with pytest.raises(UsageError, match=r"^\[colour\] is not a type\. The types are text, yes/no, number, date"):
        parse_column("Which? [colour]")


@pytest.mark.parametrize(("kind", "fitting", "others"), read_rows("table/columns", "values"))
def test_a_value_fits_its_type_or_is_marked(kind: str, fitting: list[str], others: list[str]) -> None:
    column = parse_column(f"? [{kind}]")
    assert [value for value in fitting if not column.fits(value)] == []
    assert [value for value in others if column.fits(value)] == []


def test_a_question_that_is_asked_again_keeps_the_name_of_its_column() -> None:
    named = Column(question="How long is it?", name="Notice")
    other = Column(question="Who pays?")
    unnamed = Column(question="How long is it?")
    assert keep_names((unnamed, other, unnamed), (named,)) == (named, other)
    renamed = Column(question="How long is it?", name="Period")
    assert keep_names((renamed, unnamed), (named,)) == (renamed,)
