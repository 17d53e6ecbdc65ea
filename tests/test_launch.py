"""What the app is started with: models to choose from, a way to read the document again, and where choices are kept."""

import io
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import pytest
from typing_extensions import override

from roamtui.bootstrap import Bootstrap, open_library
from roamtui.cli import main
from roamtui.conversation.library_sync import is_source_missing
from roamtui.errors import SourceError
from roamtui.launch import EXAMPLE, AppServices, Launch
from roamtui.models.discovery import discover_models, probe_server
from roamtui.models.local_servers import LOCAL_SERVERS, LocalServer
from roamtui.models.recorded import RecordedModel
from roamtui.output import ProgressLine, report_opening
from roamtui.settings import Settings
from roamtui.sources.source_names import split_sources
from roamtui.table.store import TableLog
from roamtui.tui.context import DocumentSession
from tests.fakes.site import FakeSite, make_ollama
from tests.table.filling import PERIOD, define, write_leases


def open_app(source: str, settings: Settings | None = None) -> DocumentSession:
    bootstrap = Bootstrap(settings=settings or Settings())
    return AppServices(bootstrap).open(split_sources(source))


def test_only_what_came_from_a_file_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.md"
    file.write_text("# A\n", "utf-8")
    read = open_app(str(file)).reload_library
    assert read is not None
    file.write_text("# B\n", "utf-8")
    assert read(open_library([str(file)]), frozenset()).title == "B"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"# A\n")))
    assert open_app("-").reload_library is None


@pytest.fixture
def servers_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[FakeSite]]:
    """Fakes of all servers that are looked for, in place of the usual ports."""
    with ExitStack() as stack:
        names = (("qwen3:8b", "snowflake-arctic-embed2:latest"), ("google/gemma-3",), ("a model.gguf", "llama"), ())
        fakes = [stack.enter_context(make_ollama(*models)) for models in names]
        usual = [server._replace(default_url=fake.origin) for server, fake in zip(LOCAL_SERVERS, fakes, strict=True)]
        monkeypatch.setattr("roamtui.models.discovery.LOCAL_SERVERS", usual)
        # a fake may need more than the usual time on a busy machine
        monkeypatch.setattr("roamtui.models.discovery.probe_server", partial(probe_server, seconds=60))
        yield fakes


def test_models_of_the_servers_on_this_machine_are_offered_without_those_that_only_embed(
    servers_here: list[FakeSite],
) -> None:
    offers, words = discover_models()
    assert [(offer.name, offer.provider, offer.api_base) for offer in offers] == [
        ("ollama_chat/qwen3:8b", "", servers_here[0].origin),
        ("lm_studio/google/gemma-3", "", servers_here[1].origin),
        ("llamafile/llama", "", servers_here[2].origin),
    ]
    assert all(offer.needs_test and offer.is_known_to_work for offer in offers)
    assert words == "Found Ollama, LM Studio, llama.cpp"
    assert [fake.counts.paths for fake in servers_here] == [["/v1/models"]] * 4


def test_servers_that_do_not_run_are_named_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = [server._replace(default_url="http://127.0.0.1:1") for server in LOCAL_SERVERS]
    monkeypatch.setattr("roamtui.models.discovery.LOCAL_SERVERS", closed)
    assert discover_models() == ((), "No models found (Ollama, LM Studio, llama.cpp, vLLM)")


def test_the_models_of_the_chosen_server_are_offered(servers_here: list[FakeSite]) -> None:
    with make_ollama("mine") as server:
        for model, name in (("offline", "hosted_vllm/mine"), ("lm_studio/other", "lm_studio/mine")):
            offers, words = discover_models(f"{server.origin}/v1", model)
            assert (offers[-1].name, offers[-1].api_base) == (name, f"{server.origin}/v1")
            assert words.endswith(server.origin.partition("://")[2])
    port = servers_here[0].origin.rpartition(":")[2]
    for url in (servers_here[0].origin, f"http://localhost:{port}", f"http://LOCALHOST:{port}/v1/"):
        assert len(discover_models(url)[0]) == 3, "a server is asked once"
    assert len(discover_models(f"http://localhost:{port}/other")[0]) == 3, "nothing is there"


def test_a_server_whose_url_is_invalid_is_not_looked_for() -> None:
    with pytest.raises(SourceError, match="is not a valid URL"):
        discover_models("http://[")


@pytest.mark.parametrize("address", ["http://192.0.2.1:11434", "http://[", "https://ollama.example"])
@pytest.mark.parametrize("server", LOCAL_SERVERS, ids=lambda server: server.provider)
@pytest.mark.usefixtures("servers_here")
def test_a_server_on_another_machine_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, server: LocalServer, address: str
) -> None:
    monkeypatch.setenv(server.variable, address)
    offers, words = discover_models()
    assert not any(offer.name.startswith(server.provider) for offer in offers)
    assert server.title not in words
    for other in LOCAL_SERVERS:
        monkeypatch.setenv(other.variable, address)
    assert discover_models() == ((), "No models found (all are on other machines)")


@pytest.mark.parametrize("name", ["b.md", "Smith, J.md"])
def test_a_conversation_about_several_sources_opens_all_of_them_again(name: str, tmp_path: Path) -> None:
    paths = [tmp_path / "one.md", tmp_path / "docs" / name]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Of {path.name}\n\nText.\n", "utf-8")
    library = open_library([str(path) for path in paths])
    assert not is_source_missing(library.source)
    again = open_app(library.source).conversation.state.library
    assert (again.source, again.files_hash) == (library.source, library.files_hash)
    assert Bootstrap().reopen_file(library.source).files_hash == library.files_hash
    for path in paths:
        path.unlink()
        assert is_source_missing(library.source)


class Stream(io.StringIO):
    """Standard input or output, at a terminal or not."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    @override
    def isatty(self) -> bool:
        return self._is_terminal


@pytest.mark.parametrize("is_input", [True, False])
@pytest.mark.parametrize("is_output", [True, False])
@pytest.mark.parametrize("kind", ["dumb", "xterm-256color"])
def test_lines_take_the_place_of_the_screen_where_a_terminal_is_dumb(
    monkeypatch: pytest.MonkeyPatch, *, is_input: bool, is_output: bool, kind: str
) -> None:
    monkeypatch.setenv("TERM", kind)
    monkeypatch.setattr(sys, "stdin", Stream(is_terminal=is_input))
    monkeypatch.setattr(sys, "stdout", Stream(is_terminal=is_output))
    assert Launch(bootstrap=Bootstrap(), is_plain=True).should_run_plain
    assert Launch(bootstrap=Bootstrap()).should_run_plain is (kind == "dumb" and is_input and is_output)
    assert Launch(bootstrap=Bootstrap()).has_screen is (is_input and is_output)
    assert Launch(bootstrap=Bootstrap(), sources=("-",)).has_screen is is_output
    monkeypatch.setenv("TEXTUAL_DRIVER", "textual.drivers.web_driver:WebDriver")
    assert Launch(bootstrap=Bootstrap()).has_screen


def test_without_a_terminal_a_missing_file_is_named_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    with pytest.raises(SourceError, match=r"There is no file missing\.mdd"):
        Launch(bootstrap=Bootstrap(), sources=("missing.mdd",)).run()


def test_a_table_refuses_options_of_conversations_and_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = define(tmp_path, write_leases(tmp_path / "leases"), PERIOD)
    with closing(TableLog(table)) as log:
        log.begin_run()
    for option in ("--continue", "--conversation=abc", "--watch", "--plain"):
        assert main([str(tmp_path), option]) == 2
        words = "a table needs the app" if option == "--plain" else "a table has no conversation"
        assert words in capsys.readouterr().err


def test_the_demo_plays_in_lines_on_a_dumb_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Stream(is_terminal=True))
    model = RecordedModel(seconds_per_word=0)
    launch = Launch(bootstrap=Bootstrap(), sources=(str(EXAMPLE),), model=model, is_plain=True)
    assert launch.run() == 0
    out = capsys.readouterr().out
    assert f"Ask: {model.question}\n" in out
    assert "5 quotes: 4 found in the text, 1 not in" in out


def test_the_progress_of_a_conversion_leaves_no_line_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Stream(is_terminal=True)
    monkeypatch.setattr(sys, "stderr", written)
    with report_opening("a.pdf", is_url=False) as report:
        report(352, 352)
    *_, shown, _, cleared, end = written.getvalue().split("\r")
    assert (shown, cleared, end) == ("\x1b[KConverting a.pdf… 352 of 352", "\x1b[K", "")


def test_a_line_of_progress_clears_the_one_before_of_another_job(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Stream(is_terminal=True)
    monkeypatch.setattr(sys, "stderr", written)
    ProgressLine().show("3 of 9 cells, 4 nearest, 5 not found")
    ProgressLine("embedded {:,} of {:,} sections")(6, 6)
    assert written.getvalue().rpartition("\x1b[K")[2] == "embedded 6 of 6 sections\r\n"


def test_a_line_of_progress_never_fills_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Stream(is_terminal=True)
    monkeypatch.setattr(sys, "stderr", written)
    monkeypatch.setenv("COLUMNS", "20")
    ProgressLine().show("Converting 契約書契約書.pdf…")
    assert written.getvalue() == "\r\x1b[KConverting 契約書契\r"
