"""One model process for all tests that need litellm."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from roamtui.models.litellm_model import LitellmModel
from roamtui.models.worker_process import WorkerProcess
from tests.fakes.model_servers import FakeAnthropicServer, FakeOllamaServer, FakeOpenAIServer
from tests.models.asking import OPTIONS

collect_ignore = ["test_real_embedder.py", "test_small_model.py"]
"""They take minutes: `make embeddings` and `make local-model` run them."""
OPENAI_KEY = "sk-openai-0123456789abcdef"
ANTHROPIC_KEY = "sk-ant-0123456789abcdef"


@pytest.fixture(scope="session")
def model_environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return an environment with two keys, in which nothing outside this machine can be reached."""
    home = tmp_path_factory.mktemp("model-process")
    nowhere = "http://127.0.0.1:9"
    return {
        "PATH": os.environ.get("PATH", ""),
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),  # a copy of this project tests itself, not what is installed
        "HOME": str(home),
        "OPENAI_API_KEY": OPENAI_KEY,
        "ANTHROPIC_API_KEY": ANTHROPIC_KEY,
        "HTTP_PROXY": nowhere,
        "HTTPS_PROXY": nowhere,
    }


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def worker(model_environ: dict[str, str], forking_command: tuple[str, ...]) -> AsyncIterator[WorkerProcess]:
    process = WorkerProcess(model_environ, command=forking_command)
    yield process
    await process.close()


@pytest.fixture
def openai_server() -> Iterator[FakeOpenAIServer]:
    with FakeOpenAIServer() as server:
        yield server


@pytest.fixture
def model(worker: WorkerProcess, openai_server: FakeOpenAIServer) -> LitellmModel:
    return LitellmModel("openai/gpt-4.1-mini", api_base=openai_server.url, options=OPTIONS, worker=worker)


@pytest.fixture
def anthropic_server() -> Iterator[FakeAnthropicServer]:
    with FakeAnthropicServer() as server:
        yield server


@pytest.fixture
def ollama_server() -> Iterator[FakeOllamaServer]:
    with FakeOllamaServer() as server:
        yield server


@pytest.fixture
def hostile_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working directory with modules that must not be imported."""
    (tmp_path / "litellm.py").write_text("raise SystemExit(3)\n", "utf-8")
    (tmp_path / "json.py").write_text("raise SystemExit(3)\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path
