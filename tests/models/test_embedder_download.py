"""The download of the default embedder, from a hub on loopback."""

import hashlib
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from roamtui.errors import RoamtuiError, UsageError
from roamtui.models.embedder_download import PinnedModel, install_default_embedder
from roamtui.models.local_embedder import DEFAULT_MODEL, find_model
from roamtui.output import confirm
from roamtui.paths import models_path
from tests.fakes.hostile_server import Handler, HostileServer, answer, raw, redirect
from tests.web.fetching import allow

_FILES = {"onnx/model_quint8.onnx": bytes(300_000), "tokenizer.json": b"{}", "1_Pooling/config.json": b"{ }"}
_OTHER = "is not the file that roamtui knows, so nothing was saved. To install it by pip"
_MODEL_PATH = "/onnx/model_quint8.onnx"


@pytest.fixture
def hub() -> Iterator[HostileServer]:
    with HostileServer() as server:
        server.handlers.update({f"/{name}": answer(content) for name, content in _FILES.items()})
        yield server


def _pin(hub: HostileServer) -> PinnedModel:
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in _FILES.items()}
    return PinnedModel(url=f"{hub.origin}/{{name}}", allowed=allow(hub), digests=digests)


def _list_files() -> list[Path]:
    return [path for path in models_path().rglob("*") if path.is_file()]


def test_it_is_fetched_once_after_a_yes(hub: HostileServer) -> None:
    questions: list[str] = []

    def agree(question: str) -> bool:
        questions.append(question)
        return True

    assert "from now on" in install_default_embedder(agree, "", _pin(hub))
    folder = models_path() / DEFAULT_MODEL
    assert {path.relative_to(folder).as_posix(): path.read_bytes() for path in _list_files()} == _FILES
    found = find_model(folder)
    assert found is not None
    assert found.model == folder / "onnx/model_quint8.onnx"
    assert questions == [f"Download {DEFAULT_MODEL} (23 MB) from {hub.origin} to {folder}?"]
    assert "already" in install_default_embedder(lambda _: pytest.fail("asked again"), "", _pin(hub))
    assert len(hub.paths) == len(_FILES)


@pytest.mark.parametrize(
    ("path", "handler", "problem"),
    [
        (_MODEL_PATH, answer(bytes(300_001)), _OTHER),
        (_MODEL_PATH, raw(b"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n", bytes(150_000)), "Only a part of"),
        ("/1_Pooling/config.json", answer(b"", 404), "There is no page"),
        (_MODEL_PATH, redirect("http://127.0.0.2:9/model.onnx"), "http://127.0.0.2:9 is not allowed"),
    ],
    ids=["another file", "cut in the middle", "the last file is missing", "another site"],
)
def test_it_comes_whole_or_not_at_all(hub: HostileServer, path: str, handler: Handler, problem: str) -> None:
    hub.handlers[path] = handler
    with pytest.raises(RoamtuiError, match=problem):
        install_default_embedder(lambda _: True, "", _pin(hub))
    assert not models_path().exists()


@pytest.mark.parametrize("reply", ["", "n\n", "yellow\n"])
def test_without_a_yes_nothing_is_requested(hub: HostileServer, monkeypatch: pytest.MonkeyPatch, reply: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(reply))
    with pytest.raises(UsageError, match="nothing was downloaded"):
        install_default_embedder(confirm, "", _pin(hub))
    assert hub.requests == []
    assert not models_path().exists()
