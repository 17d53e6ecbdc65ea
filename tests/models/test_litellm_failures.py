"""Everything that goes wrong with a provider becomes one sentence, without keys, that says what to do next."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from msgspec.structs import replace
from typing_extensions import override

from roamtui.errors import ModelError
from roamtui.models.base import ModelEvent, ReplyFinished, RetryPending, TextDelta
from roamtui.models.litellm_model import LitellmModel
from roamtui.models.worker_process import WorkerProcess
from roamtui.models.worker_protocol import ProviderError
from tests.case_files import read_rows
from tests.fakes.hostile_server import HostileServer, raw
from tests.fakes.model_servers import Ending, FakeOpenAIServer, FakeReply, openai_error
from tests.fakes.site import FakeSite, SitePage
from tests.models.asking import OPTIONS, collect, collect_into, join_text

pytestmark = pytest.mark.asyncio(loop_scope="session")

TOO_LONG = openai_error("This model's maximum context length is 128000 tokens.", code="context_length_exceeded")


async def fail(model: LitellmModel) -> ProviderError:
    """Return the error that ends a reply, and check what holds for each."""
    with pytest.raises(ProviderError) as caught:
        await collect(model)
    message = str(caught.value)
    assert re.fullmatch(r"[^\n\x1b]+\. [A-Z][^\n;]+\.", message), message
    assert "0123456789" not in message
    assert "litellm." not in message
    assert "Traceback" not in message
    return caught.value


@pytest.mark.parametrize(("status", "body", "sentence"), read_rows("models/failures", "refusals"))
async def test_a_refusal_is_explained(
    model: LitellmModel, openai_server: FakeOpenAIServer, status: int, body: dict[str, object], sentence: str
) -> None:
    openai_server.reset(FakeReply(status=status, error=body), FakeReply(text="must not be asked for"))
    error = await fail(model)
    assert str(error).replace(openai_server.address, "HOST") == sentence
    assert not error.failure.is_overflow
    assert len(openai_server.requests) == 1


@pytest.mark.parametrize(("status", "body"), [(400, TOO_LONG), (413, openai_error("Request Entity Too Large"))])
async def test_a_request_that_is_too_long_is_told_apart(
    model: LitellmModel, openai_server: FakeOpenAIServer, status: int, body: dict[str, object]
) -> None:
    openai_server.reset(FakeReply(status=status, error=body))
    error = await fail(model)
    assert error.failure.is_overflow
    assert "set window_tokens" in str(error)


@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
async def test_a_passing_fault_is_tried_again(
    model: LitellmModel, openai_server: FakeOpenAIServer, status: int
) -> None:
    later = FakeReply(status=status, error=openai_error("later"))
    openai_server.reset(later, later, FakeReply(text="Now."))
    events = await collect(model)
    first, second = (event for event in events if isinstance(event, RetryPending))
    assert str(status) in first.reason
    assert second.wait_seconds == 2 * first.wait_seconds
    assert join_text(events) == "Now."


async def test_a_call_that_the_provider_could_not_read_is_asked_for_again(
    model: LitellmModel, openai_server: FakeOpenAIServer
) -> None:
    failed = openai_error("Failed to call a function.", code="tool_use_failed")
    openai_server.reset(FakeReply(status=400, error=failed), FakeReply(text="Now."))
    assert join_text(await collect(model)) == "Now."


@pytest.mark.parametrize("ending", [Ending.CUT, Ending.UNFINISHED])
async def test_half_a_reply_is_an_error_and_not_asked_for_again(
    model: LitellmModel, openai_server: FakeOpenAIServer, ending: Ending
) -> None:
    openai_server.reset(FakeReply(text="Half a rep", chunk_size=4, ending=ending), FakeReply(text="Whole."))
    events: list[ModelEvent] = []
    with pytest.raises(ModelError, match="sent no complete reply"):
        await collect_into(events, model)
    assert events == [TextDelta("Half"), TextDelta(" a r"), TextDelta("ep")]
    assert len(openai_server.requests) == 1


@pytest.mark.parametrize("ending", [Ending.CUT, Ending.UNFINISHED])
async def test_a_reply_that_ends_before_it_began_is_asked_for_again(
    model: LitellmModel, openai_server: FakeOpenAIServer, ending: Ending
) -> None:
    openai_server.reset(FakeReply(text="Half", ending=ending, pieces_max=0), FakeReply(text="Whole."))
    assert join_text(await collect(model)) == "Whole."


@pytest.mark.parametrize(("pieces", "first_seconds", "gap_seconds"), [(0, 0.3, 600), (2, 600, 0.3)])
async def test_a_provider_that_falls_silent_is_given_up(
    worker: WorkerProcess, openai_server: FakeOpenAIServer, pieces: int, first_seconds: float, gap_seconds: float
) -> None:
    openai_server.reset(FakeReply(text="Half a reply", ending=Ending.HANG, pieces_max=pieces))
    options = replace(OPTIONS, first_token_seconds=first_seconds, gap_seconds=gap_seconds)
    async with asyncio.timeout(60):
        error = await fail(LitellmModel("openai/x", api_base=openai_server.url, options=options, worker=worker))
    assert "timed out" in str(error)


async def test_a_web_page_instead_of_a_reply_is_one_sentence(worker: WorkerProcess) -> None:
    with FakeSite({"/v1/chat/completions": SitePage(body="<!doctype html><h1>Please log in</h1>")}) as server:
        error = await fail(LitellmModel("openai/x", api_base=server.origin, options=OPTIONS, worker=worker))
    assert "sent no complete reply. Ask again. If this happens again, check --api-base" in str(error)


_HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n", "sent no complete reply"),
        (_HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "sent no complete reply"),
        (_HEAD + b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nabcde", "sent a reply that cannot be read"),
    ],
)
async def test_what_is_no_http_is_not_said_to_have_a_status(worker: WorkerProcess, sent: bytes, reason: str) -> None:
    with HostileServer() as server:
        server.handlers["/v1/chat/completions"] = raw(sent)
        error = await fail(LitellmModel("openai/x", api_base=server.origin, options=OPTIONS, worker=worker))
    assert str(error).startswith(f"{server.address} {reason}. Ask again")


@pytest.mark.parametrize("name", ["openai/x", "anthropic/x", "ollama/x"])
async def test_a_certificate_that_is_not_trusted_is_named(worker: WorkerProcess, name: str) -> None:
    with HostileServer("site.pem") as server:
        model = LitellmModel(name, api_base=server.origin, options=OPTIONS, worker=worker)
        error = await fail(model)
        words = rf"{server.address} has no valid certificate \(.*(certificate|authority).*\)\. Check --api-base\."
        assert re.match(words, str(error))
        problem = (await model.learn()).problem
        assert problem == ("" if name.startswith("anthropic") else str(error))  # Anthropic's servers are not asked


class BadEnd(FakeOpenAIServer):
    """Says that a reply is whole, sends one more thing, and then never ends."""

    last = b""

    @override
    def final_pieces(self, reply: FakeReply, body: Mapping[str, Any]) -> Iterator[bytes]:
        yield next(super().final_pieces(reply, body))
        yield self.last
        while not self.closing.wait(0.01):
            yield b": still here\n\n"


@pytest.mark.parametrize("last", [b": nothing\n\n", b'data: {"usage": {"prompt_tokens": "many"}}\n\n', b"data: {\n\n"])
async def test_a_reply_that_its_server_called_whole_is_taken(worker: WorkerProcess, last: bytes) -> None:
    options = replace(OPTIONS, connect_seconds=0.3)
    with BadEnd(FakeReply(text="All of it.", chunk_size=100)) as server:
        server.last = last
        async with asyncio.timeout(30):
            model = LitellmModel("openai/x", api_base=server.url, options=options, worker=worker)
            events = await collect(model)
    assert events == [TextDelta("All of it."), ReplyFinished("stop")]


@pytest.mark.parametrize(("name", "sentence"), read_rows("models/failures", "unaskable"))
async def test_what_cannot_be_asked_is_explained(worker: WorkerProcess, name: str, sentence: str) -> None:
    assert str(await fail(LitellmModel(name, worker=worker))) == sentence


@pytest.mark.slow
@pytest.mark.usefixtures("hostile_folder")
async def test_nothing_is_imported_from_the_working_directory(
    model_environ: dict[str, str], openai_server: FakeOpenAIServer
) -> None:
    openai_server.reset(FakeReply(text="Safe."))
    worker = WorkerProcess(model_environ)
    model = LitellmModel("openai/x", api_base=openai_server.url, options=OPTIONS, worker=worker)
    assert join_text(await collect(model)) == "Safe."
    await worker.close()
