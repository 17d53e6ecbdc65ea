"""A conversation keeps its model and its server, whichever front end resumes it, and no other gets its text unasked."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from roamtui.bootstrap import Bootstrap
from roamtui.conversation.log import open_store
from roamtui.launch import AppServices
from roamtui.paths import get_conversations_path
from roamtui.settings import Settings
from tests.cli.conftest import Run, RunCommand, write_settings
from tests.fakes.model_servers import FakeOpenAIServer, FakeReply
from tests.fakes.services import app_over
from tests.tui.driving import running

_KEY = "sk-0123456789abcdef"
_QUESTION = "How much does a late spade cost?"
_MODEL = "openai/tiny"
Ask = Callable[..., Run]

pytestmark = pytest.mark.usefixtures("forked_models")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAIServer]:
    monkeypatch.setenv("OPENAI_API_KEY", _KEY)
    monkeypatch.setenv("TERM", "dumb")  # as plain text sets it
    with FakeOpenAIServer(*[FakeReply(text="Not found: nothing on it.")] * 9) as server:
        yield server


@pytest.fixture(params=["ask", "plain"])
def ask(request: pytest.FixtureRequest, run: RunCommand, garden: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return a function that asks in a front end that nobody watches."""

    def ask_plainly(*arguments: str | Path) -> Run:
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{_QUESTION}\n"))
        return run(garden, "--plain", *arguments)

    if request.param == "plain":
        return ask_plainly
    return lambda *arguments: run("ask", garden, _QUESTION, *arguments)


@pytest.fixture
def log(run: RunCommand, garden: Path, server: FakeOpenAIServer) -> Path:
    """Return the log of a question at a server that the command line named."""
    run("ask", garden, _QUESTION, "--model", _MODEL, "--api-base", f"{server.url}?key={_KEY}")
    assert len(server.requests) == 1
    (path,) = get_conversations_path().glob("*.jsonl")
    return path


def test_a_single_question_goes_to_no_model_that_was_not_named_for_it(
    run: RunCommand, garden: Path, log: Path, server: FakeOpenAIServer
) -> None:
    def ask(*arguments: str) -> Run:
        return run("ask", garden, _QUESTION, "--continue", *arguments)

    unasked = ask()
    assert unasked.code == 0
    assert f"So far: {_MODEL} at {server.url}. Next: offline. To choose, add --model." in unasked.err
    assert "\nGarden manual" in unasked.out
    assert len(server.requests) == 1
    write_settings(f'model = "{_MODEL}"\napi_base = "{server.url}"\n')
    assert f"So far: offline. Next: {_MODEL} at {server.url}." in ask().err
    assert "So far" not in ask().err
    assert len(server.requests) == 3
    write_settings('model = "openai/other"\napi_base = "http://127.0.0.1:9/v1"\n')
    refused = ask()
    assert refused.code != 0
    assert "To allow it, name the model with --model" in refused.err
    assert open_store().load(log.stem).model == _MODEL


@pytest.mark.parametrize("ask", ["plain"], indirect=True)
@pytest.mark.parametrize("settings", ["", 'model = "openai/other"\napi_base = "http://127.0.0.1:9/v1"\n'])
def test_what_was_typed_at_the_start_need_not_be_typed_again(
    ask: Ask, log: Path, server: FakeOpenAIServer, settings: str
) -> None:
    assert _KEY not in log.read_text("utf-8")
    write_settings(settings)
    ask("--conversation", log.stem)
    ask("--continue")
    assert [request.body["model"] for request in server.requests] == ["tiny"] * 3
    assert open_store().load(log.stem).server == server.url


@pytest.mark.parametrize("ask", ["plain"], indirect=True)
def test_a_server_of_the_environment_is_kept_and_its_key_is_taken_from_there(
    ask: Ask, server: FakeOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}?key={_KEY}")
    ask("--model", _MODEL)
    ask("--continue")
    first, second = (request.path for request in server.requests)
    assert first == second
    assert _KEY in first
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    ask("--continue")
    assert len(server.requests) == 3
    (path,) = get_conversations_path().glob("*.jsonl")
    assert _KEY not in path.read_text("utf-8")


def _change_model(log: Path, url: str) -> tuple[str, ...]:
    """Make it a conversation at the server of the provider, which the environment names elsewhere."""
    write_settings(f'model = "{_MODEL}"\n')
    text = log.read_text("utf-8")
    log.write_text(text.replace(f'"server": "{url}"', '"server": ""'), "utf-8")
    return ("--conversation", log.stem)


def test_where_nobody_can_be_asked_another_model_or_server_must_be_typed(
    ask: Ask,
    log: Path,
    server: FakeOpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arguments = _change_model(log, server.url)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    refused = ask(*arguments)
    assert refused.code != 0
    said = refused.out + refused.err
    assert said.count("this conversation was with openai/tiny") == 1
    assert "--model" in said
    assert "--api-base" in said
    assert len(server.requests) == 1
    ask(*arguments, "--model", _MODEL)
    assert len(server.requests) == 2
    ask(*arguments, "--api-base", server.url)
    assert len(server.requests) == 3


async def test_only_the_conversation_at_the_start_goes_to_the_model_on_the_command_line(
    log: Path, garden: Path, server: FakeOpenAIServer
) -> None:
    settings = Settings(model="openai/other", api_base=server.url)
    services = AppServices(Bootstrap(settings=settings, overridden_keys=frozenset({"model"})))
    later = services.open((str(garden),), log.stem)
    async with running(app_over(later), (100, 30)) as ui:
        await ui.send(_QUESTION)
        await ui.wait_until("Continue this conversation with another model or server?")
        assert f"{_MODEL} at {server.url}. " in ui.text
        assert f"openai/other at {server.url}. " in ui.text
        ui.app.screen.dismiss(result=False)
        await ui.wait_until("Not asked · ↑")
        await ui.press("up")
        assert ui.box.text == _QUESTION
        assert len(server.requests) == 1
    first = services.open((str(garden),), log.stem)
    first.agent.use_model(first.agent.model)
    async with running(app_over(first)) as ui:
        await ui.ask(_QUESTION)
    assert [request.body["model"] for request in server.requests] == ["tiny", "other"]
