"""A model is asked on no other server than the person named, and read up to a limit, whatever that server replies."""

import asyncio
import gzip
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import repeat
from pathlib import Path
from typing import Literal

import pytest
import pytest_asyncio

from roamtui.errors import ModelError
from roamtui.models.litellm_model import LitellmModel
from roamtui.models.worker_process import WorkerProcess
from roamtui.models.worker_protocol import EmbeddingBatch, Job, ProviderError
from tests.case_files import read_rows
from tests.fakes.hostile_server import Handler, HostileServer, answer, stream
from tests.fakes.site import FakeSite, SitePage
from tests.models.asking import OPTIONS, collect, make_request

pytestmark = pytest.mark.asyncio(loop_scope="session")

KEY = "key-0123456789abcdef"
CLIENTS = """
import asyncio, sys
import aiohttp, httpx, requests
from roamtui.models.http_clients import RedirectRefusedError, restrict_clients

restrict_clients()
url = sys.argv[1]

async def send_with_httpx():
    async with httpx.AsyncClient(follow_redirects=True) as client:
        await client.post(url)

async def send_with_aiohttp():
    async with aiohttp.ClientSession() as session, session.post(url):
        pass

for send in (
    lambda: httpx.Client(follow_redirects=True).post(url),
    lambda: asyncio.run(send_with_httpx()),
    lambda: asyncio.run(send_with_aiohttp()),
    lambda: requests.post(url),
):
    try:
        send()
    except RedirectRefusedError as error:
        print(error.target)
"""


@pytest.fixture
def target() -> Iterator[FakeSite]:
    """Yield the server to which another one redirects, which should get no request."""
    with FakeSite({}) as server:
        yield server


class RedirectingSite(FakeSite):
    """Redirects each request to the same path of another server."""

    def __init__(self, target: str) -> None:
        self.target = target
        super().__init__({}, before=self._redirect)

    def _redirect(self, path: str) -> None:
        self.pages[path.partition("?")[0]] = SitePage(status=307, location=f"{self.target}{path}")


@pytest.fixture
def server(target: FakeSite) -> Iterator[RedirectingSite]:
    with RedirectingSite(target.origin.replace("127.0.0.1", "localhost")) as server:
        yield server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def keyed_worker(model_environ: dict[str, str], forking_command: tuple[str, ...]) -> AsyncIterator[WorkerProcess]:
    """Return a process that has a key of each provider."""
    keys = dict.fromkeys(read_rows("models/redirects", "key_variables"), KEY)
    environ = {**model_environ, **keys, "AZURE_API_VERSION": "2024-06-01"}
    process = WorkerProcess(environ, command=forking_command)
    yield process
    await process.close()


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        *(("complete", name) for name in read_rows("models/redirects", "models")),
        *(("embed", name) for name in read_rows("models/redirects", "embedders")),
    ],
)
async def test_no_model_is_asked_on_another_server(
    keyed_worker: WorkerProcess,
    server: RedirectingSite,
    target: FakeSite,
    operation: Literal["complete", "embed"],
    name: str,
) -> None:
    job = Job(
        operation=operation,
        model=name,
        api_base=server.origin,
        options=OPTIONS,
        request=make_request(),
        texts=("A bakery.",),
    )
    with pytest.raises(ModelError) as caught:
        await keyed_worker.run_to_result(job, EmbeddingBatch)
    assert str(caught.value).startswith(f"{server.address} redirects requests to {server.target}/")
    assert str(caught.value).endswith("If you trust that server, set --api-base to its URL.")
    assert server.counts.paths
    assert target.counts.paths == []


async def test_no_http_client_follows(server: RedirectingSite, target: FakeSite) -> None:
    folder = Path(__file__).parents[2]
    command = [sys.executable, "-W", "ignore", "-c", CLIENTS, server.origin]
    result = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, check=True, cwd=folder, timeout=180
    )
    assert result.stdout == 4 * f"{server.target}/\n"
    assert target.counts.paths == []


_STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
_COMMENTS = b": ping\n" * 1_000
_EMPTY_EVENT = b'data: {"choices":[],"filler":"%s"}\n\n' % (b"y" * 10_000)
TOO_LARGE: dict[str, Callable[[], Handler]] = {
    "a line": lambda: stream(_STREAM + b'data: {"choices":[{"delta":{"content":"', repeat(b"y" * 100_000)),
    "comments": lambda: stream(_STREAM, repeat(_COMMENTS)),
    "events": lambda: stream(_STREAM, repeat(_EMPTY_EVENT)),
    "a bomb": lambda: answer(gzip.compress(bytes(90_000_000)), headers=[("Content-Encoding", "gzip")]),
    "an error": lambda: stream(_STREAM.replace(b"200 OK", b"500 No"), repeat(b"y" * 100_000)),
}


@pytest.mark.parametrize("name", TOO_LARGE)
async def test_a_reply_without_end_is_not_read_and_not_asked_for_again(worker: WorkerProcess, name: str) -> None:
    with HostileServer() as server:
        server.handlers["/v1/chat/completions"] = TOO_LARGE[name]()
        model = LitellmModel("openai/tiny", api_base=server.origin, options=OPTIONS, worker=worker)
        await model.start()
        pid = worker.pid
        with pytest.raises(ProviderError, match=r"sent a reply that is too large\. Ask again") as caught:
            await collect(model)
        assert caught.value.failure.may_cost
        assert server.paths.count("/v1/chat/completions") == 1
    assert worker.pid == pid
