"""Whether an Ollama answers is found out in a moment, and nothing else is asked."""

from __future__ import annotations

import pytest

from roamtui.models.ollama import find_ollama_address, look_up_ollama
from tests.fakes.tags_server import FakeTagsServer


def test_the_address_is_the_persons_own_or_ollamas() -> None:
    assert find_ollama_address({}) == "http://127.0.0.1:11434"
    assert find_ollama_address({"OLLAMA_API_BASE": " "}) == "http://127.0.0.1:11434"
    assert find_ollama_address({"OLLAMA_API_BASE": "http://gpu:11434"}) == "http://gpu:11434"


@pytest.mark.parametrize("end", ["", "/"])
def test_its_models_are_listed(end: str) -> None:
    with FakeTagsServer("qwen3:latest", "llama3.1:8b") as server:
        report = look_up_ollama(server.url + end)
        assert (report.address, report.models, report.problem) == (server.url, ("llama3.1:8b", "qwen3:latest"), "")
        assert server.paths == ["/api/tags"]


def test_one_without_models_is_of_no_use() -> None:
    with FakeTagsServer() as server:
        assert look_up_ollama(server.url).problem == "it has no models yet"


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b'{"models": [1]}', b'{"models": 3}', b"[" * 100_000])
def test_another_program_is_told_apart(body: bytes) -> None:
    with FakeTagsServer(body=body) as server:
        assert look_up_ollama(server.url).problem == "what answers there is no Ollama"


def test_a_refusal_is_told() -> None:
    with FakeTagsServer(status=404) as server:
        assert look_up_ollama(server.url).problem == "what answers there is no Ollama (404)"


def test_nobody_is_sent_elsewhere() -> None:
    with FakeTagsServer("secret") as target, FakeTagsServer(status=302, location=f"{target.url}/api/tags") as server:
        assert look_up_ollama(server.url).problem == "what answers there is no Ollama (302)"
        assert target.paths == []


def test_no_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeTagsServer("wrong") as proxy, FakeTagsServer("right") as server:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        assert look_up_ollama(server.url).models == ("right",)
        assert proxy.paths == []


def test_a_closed_port_is_told_at_once() -> None:
    with FakeTagsServer() as server:
        address = server.url
    report = look_up_ollama(address)
    assert (report.address, report.problem) == (address, "nothing answers there")


def test_silence_is_not_waited_for() -> None:
    with FakeTagsServer(is_silent=True) as server:
        report = look_up_ollama(server.url, seconds=0.05)
        assert report.problem in ("nothing answers there", "it does not answer")
        assert server.paths == ["/api/tags"]


@pytest.mark.parametrize(
    "address",
    ["localhost:11434", "file:///etc/passwd", "ftp://x/", "http://", "http://[::1", "http://me:hidden@127.0.0.1:9"],
)
def test_an_address_without_sense_is_not_asked_and_not_shown(address: str) -> None:
    report = look_up_ollama(address)
    assert report.address == "?"
    assert report.problem.startswith("its address makes no sense")
    assert "hidden" not in str(report)


def test_what_may_be_secret_in_an_address_is_dropped() -> None:
    with FakeTagsServer("a") as server:
        report = look_up_ollama(f"{server.url}/?token=hidden#hidden")
        assert (report.address, report.models) == (server.url, ("a",))
        assert server.paths == ["/api/tags"]
