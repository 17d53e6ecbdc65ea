"""Whatever is wrong gets one plain sentence that says what to do, and never a traceback."""

import io
import shlex
import sys
from pathlib import Path

import pytest

from roamtui.cli import COMMANDS, make_parser
from roamtui.commands.arguments import NumberRange
from roamtui.paths import format_file_path, get_config_path
from tests.case_files import read_rows
from tests.cli.conftest import RunCommand, write_settings


def test_a_missing_file_is_told_with_the_nearest_name(run: RunCommand, garden: Path) -> None:
    for typed in ("gardn.md", "gardn"):
        name = garden.with_name(typed)
        result = run("ask", name, "Why?")
        told = f'roamtui: There is no file {name}. Did you mean "{garden.name}"?\n'
        assert (result.code, result.err) == (1, told)


@pytest.mark.parametrize(("line", "words"), read_rows("cli/wrong_use", "wrong_use"))
def test_wrong_use_is_one_sentence(
    run: RunCommand, garden: Path, line: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(garden.parent)
    garden.rename(garden.with_name("x.md"))
    result = run(*shlex.split(line))
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("roamtui: ")
    assert words in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_every_number_has_a_range_and_others_are_refused_in_one_sentence(run: RunCommand, name: str) -> None:
    parser = make_parser(name)
    plain = [action.dest for action in parser._actions if action.type in (int, float)]
    assert plain == [], "add_number gives a number its range"
    required = ["x.md" for action in parser._actions if action.required]
    for action in parser._actions:
        if isinstance(action.type, NumberRange):
            least, most = action.type.least, action.type.most
            assert f"{least:,} to {most:,}" in (action.help or "")
            assert action.type(str(least)) == least
            assert action.type(str(most)) == most
            for wrong in (least - 1, most + 1, "nan", "inf", "1e999", "many", ""):
                result = run(*([name] if name else []), *required, f"{action.option_strings[0]}={wrong}")
                assert result.code == 2
                assert result.err.startswith(f'roamtui: argument {action.option_strings[0]}: "{wrong}" is not a ')
                assert result.err.count("\n") == 1


NESTED_SETTING = ("model = " + "[" * 9_000, "not valid TOML")


@pytest.mark.parametrize(
    ("text", "word"), [*read_rows("cli/wrong_use", "broken_configuration"), pytest.param(*NESTED_SETTING, id="nested")]
)
def test_a_broken_configuration_names_the_place(run: RunCommand, garden: Path, text: str, word: str) -> None:
    write_settings(text)
    result = run("ask", garden, "Why?")
    assert result.code == 2
    assert word in result.err
    assert result.err.startswith(f"roamtui: {get_config_path()}")
    assert result.err.count("\n") == 1


def test_a_document_without_text_cannot_be_asked(run: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "empty.md"
    path.write_text(" \n\n", "utf-8")
    result = run("ask", path, "What?", "--json")
    assert (result.code, result.out) == (1, "")
    assert result.err == "roamtui: The document has no text. Choose another document.\n"


def test_the_last_conversation_whose_document_is_still_there_continues(
    run: RunCommand, garden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = garden.with_name("lost.md")
    lost.write_text("# Lost\n\nA lost key costs 3 crowns.\n", "utf-8")
    for path, question in ((garden, "What does a late spade cost?"), (lost, "What does a lost key cost?")):
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{question}\n"))
        run(path, "--plain")
    lost.unlink()
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    resumed = run("--continue", "--plain")
    assert "Resumed after question 1: What does a late" in resumed.out
    garden.unlink()
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    refused = run("--continue", "--plain")
    assert (refused.code, refused.out) == (1, "")
    assert "No conversation can be continued." in refused.err


def test_a_conversation_whose_document_was_moved_continues_with_it_where_it_is(
    run: RunCommand, garden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = run("ask", garden, "How long is a plot?", "--json").json["conversation"]
    new = garden.rename(garden.with_name("moved.md"))
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    result = run("--conversation", conversation, "--plain")
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        f"roamtui: The document {format_file_path(str(garden))} is no longer there."
        f" If you have it in another place, run `roamtui SOURCE --conversation {conversation}`.\n"
    )
    assert "Resumed after question 1" in run(new, "--conversation", conversation, "--plain").out
    assert f", {new})" in run("conversations", "--all").out
    assert "Resumed after question 1" in run("--conversation", conversation, "--plain").out
    assert run("recheck", conversation).code == 0


def test_a_conversation_about_two_documents_continues_after_one_has_moved(
    run: RunCommand, garden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shed = garden.with_name("shed.md")
    shed.write_text("# Shed\n\nThe shed is red.\n", "utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO("How long is a plot?\n"))
    run(garden, shed, "--plain")
    conversation = run("conversations").out.split()[0]
    new = shed.rename(garden.with_name("moved.md"))
    refused = run("--conversation", conversation, "--plain")
    assert refused.err.startswith(f"roamtui: The document {format_file_path(str(shed))} is no longer there.")
    garden.rename(garden.with_name("kept.md"))
    names = f"{format_file_path(str(garden))}, {format_file_path(str(shed))}"
    told = f"The documents {names} are no longer there. If you have them in another place,"
    assert told in run("--conversation", conversation, "--plain").err
    garden.with_name("kept.md").rename(garden)
    assert "Resumed after question 1" in run(garden, new, "--conversation", conversation, "--plain").out
    assert run("recheck", conversation).code == 0


def test_without_the_extra_one_sentence_says_how_to_get_it(
    run: RunCommand, garden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "textual_serve.server", None)
    monkeypatch.delitem(sys.modules, "roamtui.tui.web_server", raising=False)
    result = run("serve", garden)
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        "roamtui: `roamtui serve` needs more packages. Install them with: pip install 'roamtui[serve]'\n"
    )
