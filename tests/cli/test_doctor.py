"""`roamtui doctor`."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from roamtui.paths import get_cache_path, get_config_path, get_conversations_path
from tests.cli.conftest import RunCommand, write_settings
from tests.fakes.site import FakeSite, make_ollama

KEY = "sk-0123456789abcdef"


@pytest.fixture(autouse=True)
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSite]:
    with make_ollama(*(f"\x1b[2Jmodel-{number}" for number in range(9))) as server:
        monkeypatch.setenv("OLLAMA_API_BASE", server.origin)
        yield server


def test_it_says_what_is_there_shows_no_key_and_makes_nothing(
    run: RunCommand, home_dir: Path, ollama: FakeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    result = run("doctor")
    assert (result.code, result.err) == (0, "")
    for word in (
        "roamtui ",
        "Python ",
        "textual ",
        "litellm ",
        "SQLite ",
        "OPENAI_API_KEY is set",
        "needs ANTHROPIC_API_KEY",
    ):
        assert word in result.out
    for path in (get_config_path(), get_conversations_path(), get_cache_path()):
        assert f"{path} (missing)" in result.out
    assert f"{ollama.origin}: ␛[2Jmodel-0, " in result.out
    assert "\x1b" not in result.out
    assert KEY not in result.out
    assert "run `pip install 'roamtui[meaning]'`\n" in result.out
    assert result.out.count("\n") <= 24
    assert list(home_dir.rglob("*")) == []


def test_the_model_of_the_settings_and_its_server_are_named_without_a_request(run: RunCommand) -> None:
    write_settings("model = 'openai/x'\napi_base = 'http://me:secret@127.0.0.1:9/v1'")
    result = run("doctor")
    assert result.code == 0
    assert re.search(r"^model +openai/x at http://.*@127\.0\.0\.1:9/v1$", result.out, re.MULTILINE)
    assert "secret" not in result.out
    assert "openai/x: " not in result.out


def test_wrong_settings_are_one_of_its_lines(run: RunCommand) -> None:
    write_settings("modell = 'x'")
    result = run("doctor")
    assert (result.code, result.err) == (1, "")
    assert f'not usable     {get_config_path()}: there is no setting "modell".' in result.out
    assert "offline: finds passages without a model, a key or a network" in result.out


def test_a_typed_server_counts_although_the_settings_are_wrong(run: RunCommand) -> None:
    write_settings("modell = 'x'")
    result = run("doctor", "--model", "openai/x", "--api-base", "http://127.0.0.1:9/v1")
    assert "openai/x: 127.0.0.1:9 cannot be reached" in result.out


def test_it_says_what_the_app_ignores_of_the_settings(run: RunCommand) -> None:
    write_settings('theme = "harbor"\n[keys]\n"chat.cop" = "z"\n')
    result = run("doctor")
    assert result.code == 0
    assert 'ignored        There is no action "chat.cop", so its keys were ignored.' in result.out
    assert 'ignored        Unknown theme "harbor".' in result.out


@pytest.mark.parametrize(
    ("name", "code", "word"),
    [
        ("offline", 0, "finds passages without a model, a key or a network"),
        ("two words", 1, "invalid model name"),
    ],
)
def test_the_exit_status_says_whether_a_model_is_usable(run: RunCommand, name: str, code: int, word: str) -> None:
    result = run("doctor", "--model", name)
    assert result.code == code
    assert word in result.out.splitlines()[0]


def test_it_asks_a_model_at_the_server_of_the_settings(run: RunCommand) -> None:
    write_settings('api_base = "http://me@127.0.0.1:9/v1"')
    result = run("doctor", "--model", "openai/other")
    assert result.code == 1
    assert "must not contain a user name" in result.out.splitlines()[0]
