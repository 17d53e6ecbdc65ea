"""What the app is started with: models to choose from, a way to read the document again, and where choices are kept."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from typing_extensions import override

from roamtui.bootstrap import Bootstrap, open_library
from roamtui.conversation.library_sync import is_source_missing
from roamtui.launch import (
    Launch,
    confirm_url,
    has_screen,
)
from roamtui.models.registry import LOCAL_SERVERS, LocalServer
from roamtui.paths import config_path
from roamtui.search.options import RetrievalOptions, SearchMode
from roamtui.settings import Settings, load_settings
from roamtui.tui.context import AppContext
from tests.fakes.site import FakeSite, make_ollama


def test_a_model_that_was_named_needs_no_consent_and_one_whose_key_was_found_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    offers = Bootstrap(settings=Settings(model="openai/gpt-4.1")).list_model_offers()
    assert [(offer.name.split("/")[0], offer.provider) for offer in offers] == [
        ("openai", ""),
        ("anthropic", "Anthropic"),
        ("offline", ""),
    ]
    assert offers[1].note == "ANTHROPIC_API_KEY is set"


def test_without_a_name_the_one_of_the_settings_is_the_named_one() -> None:
    assert [offer.name for offer in Bootstrap().list_model_offers()] == ["offline"]
    first, *_ = Bootstrap(settings=Settings(model="ollama_chat/qwen3")).list_model_offers()
    assert (first.name, first.provider, first.make_model().name) == ("ollama_chat/qwen3", "", "ollama_chat/qwen3")


def open_app(source: str, settings: Settings | None = None) -> AppContext:
    bootstrap = Bootstrap(settings=settings or Settings())
    return Launch(bootstrap=bootstrap).open_another(source, None, None, lambda *_: None)


def test_choices_go_to_the_settings(home_dir: Path) -> None:
    options = Launch(bootstrap=Bootstrap()).make_options()
    assert options.save_settings is not None
    options.save_settings({"theme": "dawn"})
    assert config_path().is_relative_to(home_dir)
    assert load_settings().theme == "dawn"


def test_only_what_came_from_a_file_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.md"
    file.write_text("# A\n", "utf-8")
    read = open_app(str(file)).reload_library
    assert read is not None
    file.write_text("# B\n", "utf-8")
    assert read(open_library([str(file)]), frozenset()).title == "B"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"# A\n")))
    assert open_app("-").reload_library is None


class ServersHere(NamedTuple):
    """Fakes of all servers that are looked for, in place of the usual ports."""

    ollama: FakeSite
    others: tuple[FakeSite, FakeSite, FakeSite]


@pytest.fixture
def servers_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[ServersHere]:
    with ExitStack() as stack:
        names = (
            ("qwen3:8b", "snowflake-arctic-embed2:latest"),
            ("google/gemma-3",),
            ("a model.gguf", "llama"),
            ("big",),
        )
        fakes = [stack.enter_context(make_ollama(*models)) for models in names]
        usual = [
            server._replace(default_url=f"{fake.origin}/v1" if "/v1" in server.default_url else fake.origin)
            for server, fake in zip(LOCAL_SERVERS, fakes, strict=True)
        ]
        monkeypatch.setattr("roamtui.models.registry.LOCAL_SERVERS", usual)
        yield ServersHere(fakes[0], (fakes[1], fakes[2], fakes[3]))


def test_models_of_the_servers_on_this_machine_are_offered_without_those_that_only_embed(
    monkeypatch: pytest.MonkeyPatch, servers_here: ServersHere
) -> None:
    for name in ("OPENAI_API_KEY", "LM_STUDIO_API_KEY", "HOSTED_VLLM_API_KEY", "LLAMAFILE_API_KEY"):
        monkeypatch.setenv(name, "sk-0123456789abcdef")
    offers, words = Bootstrap().discover_local_models()
    ollama, (studio, llama, vllm) = servers_here
    assert [(offer.name, offer.provider, offer.api_base) for offer in offers] == [
        ("ollama_chat/qwen3:8b", "", ollama.origin),
        ("lm_studio/google/gemma-3", "", f"{studio.origin}/v1"),
        ("llamafile/llama", "", f"{llama.origin}/v1"),
        ("hosted_vllm/big", "", f"{vllm.origin}/v1"),
    ]
    assert all(offer.needs_test and offer.is_known_to_work for offer in offers)
    assert [offer.make_model().name for offer in offers] == [offer.name for offer in offers]
    assert words.startswith(
        f"Ollama at {ollama.origin}: 1 model · LM Studio at {studio.origin}/v1: 1 model · llama.cpp"
    )
    for fake in (ollama, studio, llama, vllm):
        assert fake.counts.paths == ["/v1/models"]


def test_the_usual_ports_are_on_this_machine_and_need_no_url_for_ollama() -> None:
    ports = [urlsplit(server.default_url) for server in LOCAL_SERVERS]
    assert [(url.hostname, url.port) for url in ports] == [("127.0.0.1", port) for port in (11434, 1234, 8080, 8000)]


def test_servers_that_do_not_run_are_named_in_one_sentence_unless_a_person_set_their_address(
    monkeypatch: pytest.MonkeyPatch, servers_here: ServersHere
) -> None:
    del servers_here
    closed = [server._replace(default_url="http://127.0.0.1:1") for server in LOCAL_SERVERS]
    monkeypatch.setattr("roamtui.models.registry.LOCAL_SERVERS", closed)
    expected = "No local model server found (Ollama, LM Studio, llama.cpp, vLLM)"
    assert Bootstrap().discover_local_models() == ((), expected)
    monkeypatch.setenv("OLLAMA_API_BASE", "http://127.0.0.1:2")
    assert Bootstrap().discover_local_models() == ((), "Ollama at http://127.0.0.1:2: no server")


def test_silent_servers_are_waited_for_together(monkeypatch: pytest.MonkeyPatch) -> None:
    together = threading.Barrier(len(LOCAL_SERVERS) + 1)
    asked: list[str] = []

    def wait(path: str) -> None:
        asked.append(path)
        together.wait(20)
        site.closing.wait()

    with FakeSite({}, before=wait) as site, ThreadPoolExecutor(1) as pool:
        usual = [server._replace(default_url=site.origin) for server in LOCAL_SERVERS]
        monkeypatch.setattr("roamtui.models.registry.LOCAL_SERVERS", usual)
        looking = pool.submit(Bootstrap().discover_local_models)
        together.wait(20)  # all have been asked before any of them has been given up
        offers, words = looking.result()
    assert asked == ["/v1/models"] * 4
    assert offers == ()
    assert words.startswith("No local model server found")


@pytest.mark.parametrize("address", ["http://192.0.2.1:11434", "http://[", "https://ollama.example"])
@pytest.mark.parametrize("server", LOCAL_SERVERS, ids=lambda server: server.provider)
def test_a_server_on_another_machine_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, servers_here: ServersHere, server: LocalServer, address: str
) -> None:
    del servers_here
    monkeypatch.setenv(server.variable, address)
    offers, words = Bootstrap().discover_local_models()
    assert not any(offer.name.startswith(server.provider) for offer in offers)
    assert f"{server.title} runs on another machine" in words
    assert "--model" not in words


@pytest.mark.parametrize("name", ["b.md", "Smith, J.md", "a, /b.md"])
def test_a_conversation_about_several_sources_opens_all_of_them_again(name: str, tmp_path: Path) -> None:
    paths = [tmp_path / "one.md", tmp_path / "docs" / name]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Of {path.name}\n\nText.\n", "utf-8")
    library = open_library([str(path) for path in paths])
    assert not is_source_missing(library.source)
    again = open_app(library.source).conversation.state.library
    assert (again.source, again.content_hash) == (library.source, library.content_hash)
    again = Bootstrap().reopen(library.source)
    assert again.content_hash == library.content_hash
    for path in paths:
        path.unlink()
    assert is_source_missing(library.source)


class Stream(io.StringIO):
    """Standard input or output, at a terminal or not."""

    def __init__(self, text: str = "", *, is_terminal: bool = True) -> None:
        super().__init__(text)
        self._is_terminal = is_terminal

    @override
    def isatty(self) -> bool:
        return self._is_terminal


@pytest.mark.parametrize("is_input", [True, False])
@pytest.mark.parametrize("is_output", [True, False])
@pytest.mark.parametrize("kind", ["dumb", "xterm-256color"])
def test_lines_take_the_place_of_the_screen_where_a_terminal_is_dumb(
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_input: bool,
    is_output: bool,
    kind: str,
) -> None:
    monkeypatch.setenv("TERM", kind)
    monkeypatch.setattr(sys, "stdin", Stream(is_terminal=is_input))
    monkeypatch.setattr(sys, "stdout", Stream(is_terminal=is_output))
    assert Launch(bootstrap=Bootstrap(), is_plain=True).should_run_plain
    assert Launch(bootstrap=Bootstrap()).should_run_plain is (kind == "dumb" and is_input and is_output)
    assert has_screen() is (is_input and is_output)
    monkeypatch.setenv("TEXTUAL_DRIVER", "textual.drivers.web_driver:WebDriver")
    assert has_screen()


@pytest.mark.parametrize(
    ("typed", "is_meant"), [("y\n", True), (" YES \n", True), ("n\n", False), ("\n", False), ("", False)]
)
def test_an_address_without_a_scheme_is_opened_after_a_yes(
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    is_meant: bool,  # noqa: FBT001
) -> None:
    named = ("docs.example.com",)
    monkeypatch.setattr(sys, "stdout", shown := Stream())
    monkeypatch.setattr(sys, "stdin", Stream(typed))
    assert confirm_url(named) == (("https://docs.example.com",) if is_meant else named)
    assert "There is no file docs.example.com. Open https://docs.example.com? [y/N]" in shown.getvalue()


@pytest.mark.parametrize(("is_input", "is_output"), [(False, True), (True, False)])
def test_nobody_is_asked_for_an_address_where_nobody_can_answer(
    monkeypatch: pytest.MonkeyPatch, *, is_input: bool, is_output: bool
) -> None:
    named = ("docs.example.com",)
    monkeypatch.setattr(sys, "stdin", Stream("y\n", is_terminal=is_input))
    monkeypatch.setattr(sys, "stdout", shown := Stream(is_terminal=is_output))
    assert confirm_url(named) == named
    assert not shown.getvalue()


@pytest.mark.parametrize(
    ("settings", "is_made"),
    [
        (Settings(), False),
        (Settings(model="openai/gpt-4.1"), True),
        (Settings(retrieval=RetrievalOptions(mode=SearchMode.OFF)), True),
    ],
)
def test_all_is_made_before_the_screen_only_where_something_may_be_refused(
    tmp_path: Path,
    settings: Settings,
    is_made: bool,  # noqa: FBT001
) -> None:
    (tmp_path / "a.md").write_text("# A\n", "utf-8")
    assert ("agent" in vars(open_app(str(tmp_path / "a.md"), settings))) is is_made
