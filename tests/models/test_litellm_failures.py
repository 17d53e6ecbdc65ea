"""Everything that goes wrong with a provider becomes one sentence, without keys, that says what to do next."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest
from typing_extensions import override

from roamtui.errors import ModelError
from roamtui.models.base import ModelEvent, RetryPending, TextDelta
from roamtui.models.litellm_model import LitellmModel, WorkerProcess
from roamtui.models.options import ModelOptions
from tests.fakes.model_servers import Ending, FakeOpenAIServer, FakeReply, openai_error
from tests.models.asking import OPTIONS, collect, join_text, make_request
from tests.models.conftest import OPENAI_KEY

pytestmark = pytest.mark.asyncio(loop_scope="session")

TOO_LONG = openai_error("This model's maximum context length is 128000 tokens.", code="context_length_exceeded")
RATE_LIMIT = openai_error("Rate limit reached", code="rate_limit_exceeded")


class FakeWebServer(FakeOpenAIServer):
    """Answers with a page, as any web server may under a wrong address."""

    content_type = "text/html"

    @override
    def pieces(self, reply: FakeReply, body: Mapping[str, Any]) -> Iterator[bytes]:
        yield b"<html><body>Welcome</body></html>"

    @override
    def final_pieces(self, reply: FakeReply, body: Mapping[str, Any]) -> Iterator[bytes]:
        return iter(())


class FakeFaultyServer(FakeOpenAIServer):
    """Begins a reply with a fault, as OpenAI and Anthropic do."""

    @override
    def pieces(self, reply: FakeReply, body: Mapping[str, Any]) -> Iterator[bytes]:
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        yield f"event: error\ndata: {json.dumps(error)}\n\n".encode()


@pytest.fixture
def model(worker: WorkerProcess, openai_server: FakeOpenAIServer) -> LitellmModel:
    return LitellmModel("openai/gpt-4.1-mini", api_base=openai_server.url, options=OPTIONS, worker=worker)


async def fail(model: LitellmModel) -> ModelError:
    """Return the error that ends a reply, and check what holds for each."""
    with pytest.raises(ModelError) as caught:
        await collect(model)
    message = str(caught.value)
    assert re.fullmatch(r"[^\n\x1b]+; [^\n;]+\.", message), message
    assert "0123456789" not in message
    assert "litellm." not in message
    assert "Traceback" not in message
    return caught.value


@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        (
            401,
            openai_error(f"Incorrect API key provided: {OPENAI_KEY}", code="invalid_api_key"),
            (
                'HOST does not accept the key in OPENAI_API_KEY for "gpt-4.1-mini" (401); '
                "check it or choose another model with --model."
            ),
        ),
        (
            404,
            openai_error("The model does not exist", code="model_not_found"),
            'HOST has no model "gpt-4.1-mini"; check the name or choose another model with --model.',
        ),
        (
            429,
            openai_error("You exceeded your current quota", code="insufficient_quota"),
            "No credit left at HOST; add some or choose another model with --model.",
        ),
        (
            400,
            openai_error(f"Bad \x1b[31mthing\n with {OPENAI_KEY}."),
            "HOST refused the request (400): Bad ␛[31mthing with [redacted]; choose another model with --model.",
        ),
        (418, {"detail": "No tea."}, "HOST refused the request (418): No tea; choose another model with --model."),
    ],
)
async def test_a_refusal_is_explained(
    model: LitellmModel, openai_server: FakeOpenAIServer, status: int, body: dict[str, object], sentence: str
) -> None:
    openai_server.reset(FakeReply(status=status, error=body), FakeReply(text="must not be asked for"))
    error = await fail(model)
    assert str(error).replace(openai_server.address, "HOST") == sentence
    assert not error.overflow
    assert len(openai_server.requests) == 1


@pytest.mark.parametrize(("status", "body"), [(400, TOO_LONG), (413, openai_error("Request Entity Too Large"))])
async def test_a_request_that_is_too_long_is_told_apart(
    model: LitellmModel, openai_server: FakeOpenAIServer, status: int, body: dict[str, object]
) -> None:
    openai_server.reset(FakeReply(status=status, error=body))
    error = await fail(model)
    assert error.overflow
    assert "close some sections" in str(error)


@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
async def test_a_passing_fault_is_tried_again(
    model: LitellmModel, openai_server: FakeOpenAIServer, status: int
) -> None:
    openai_server.reset(FakeReply(status=status, error=openai_error("later")), FakeReply(text="Now."))
    events = await collect(model)
    assert isinstance(events[0], RetryPending)
    assert str(status) in events[0].reason
    assert join_text(events) == "Now."


async def test_the_servers_wait_is_kept(model: LitellmModel, openai_server: FakeOpenAIServer) -> None:
    busy = FakeReply(status=429, headers={"Retry-After": "0.02"}, error=RATE_LIMIT)
    openai_server.reset(busy, busy, FakeReply(text="Now."))
    events = await collect(model)
    assert [event.wait_seconds for event in events if isinstance(event, RetryPending)] == [0.02, 0.02]


async def test_each_wait_is_twice_the_one_before_up_to_a_limit(
    worker: WorkerProcess, openai_server: FakeOpenAIServer
) -> None:
    options = ModelOptions(retry_wait_seconds=0.01, retry_wait_seconds_max=0.07, retries=4, cancel_seconds=5.0)
    openai_server.reset(*[FakeReply(status=503, error=openai_error("later"))] * 4, FakeReply(text="Now."))
    events = await collect(LitellmModel("openai/x", api_base=openai_server.url, options=options, worker=worker))
    waits = [event.wait_seconds for event in events if isinstance(event, RetryPending)]
    assert waits == [0.01, 0.02, 0.04, 0.07]


async def test_too_long_a_wait_is_not_waited_for(model: LitellmModel, openai_server: FakeOpenAIServer) -> None:
    openai_server.reset(FakeReply(status=429, headers={"Retry-After": "3600"}, error=RATE_LIMIT))
    await fail(model)
    assert len(openai_server.requests) == 1


async def _fill(events: list[ModelEvent], model: LitellmModel) -> None:
    async for event in model.stream(make_request()):
        events.append(event)


@pytest.mark.parametrize("ending", [Ending.CUT, Ending.UNFINISHED])
async def test_half_a_reply_is_an_error_and_not_asked_for_again(
    model: LitellmModel, openai_server: FakeOpenAIServer, ending: Ending
) -> None:
    openai_server.reset(FakeReply(text="Half a rep", chunk_size=4, ending=ending), FakeReply(text="Whole."))
    events: list[ModelEvent] = []
    with pytest.raises(ModelError, match="closed the connection mid-reply"):
        await _fill(events, model)
    assert events == [TextDelta("Half"), TextDelta(" a r"), TextDelta("ep")]
    assert len(openai_server.requests) == 1


@pytest.mark.parametrize("ending", [Ending.CUT, Ending.UNFINISHED])
async def test_a_reply_that_ends_before_it_began_is_asked_for_again(
    model: LitellmModel, openai_server: FakeOpenAIServer, ending: Ending
) -> None:
    openai_server.reset(FakeReply(text="Half", ending=ending, pieces_max=0), FakeReply(text="Whole."))
    assert join_text(await collect(model)) == "Whole."


@pytest.mark.parametrize("pieces_max", [0, None])
async def test_silence_before_the_first_word_or_within_a_reply_is_an_error(
    worker: WorkerProcess, openai_server: FakeOpenAIServer, pieces_max: int | None
) -> None:
    openai_server.reset(FakeReply(text="Hello", ending=Ending.HANG, pieces_max=pieces_max))
    first, gap = (2.0, 900.0) if pieces_max == 0 else (900.0, 0.3)
    options = ModelOptions(first_token_seconds=first, gap_seconds=gap)
    async with asyncio.timeout(60):
        error = await fail(LitellmModel("openai/x", api_base=openai_server.url, options=options, worker=worker))
    assert "timed out" in str(error)
    assert await asyncio.to_thread(openai_server.client_closed.wait, 10)


@pytest.mark.parametrize("name", ["openai/x", "anthropic/claude-sonnet-4-5", "ollama_chat/llama3.1"])
async def test_an_address_that_is_no_model_server_is_told_apart(worker: WorkerProcess, name: str) -> None:
    with FakeWebServer(FakeReply(), FakeReply(), FakeReply(), FakeReply()) as server:
        error = await fail(LitellmModel(name, api_base=server.url, options=OPTIONS, worker=worker))
    assert "sent no reply; ask again, or check --api-base" in str(error)


@pytest.mark.parametrize("name", ["openai/x", "anthropic/claude-sonnet-4-5"])
async def test_a_fault_reported_within_a_reply_is_tried_again(worker: WorkerProcess, name: str) -> None:
    with FakeFaultyServer(FakeReply(), FakeReply(), FakeReply(), FakeReply()) as server:
        error = await fail(LitellmModel(name, api_base=server.url, options=OPTIONS, worker=worker))
        assert "is unavailable" in str(error)
        assert len(server.requests) == 4


@pytest.mark.parametrize(
    "name", ["openai/x", "anthropic/claude-sonnet-4-5", "ollama_chat/llama3.1", "mistral/mistral-large-latest"]
)
async def test_a_server_that_takes_no_connection_is_given_up_soon(worker: WorkerProcess, name: str) -> None:
    options = ModelOptions(connect_seconds=0.2, first_token_seconds=60)
    with ExitStack() as stack:
        full = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(8):
            waiting = stack.enter_context(socket.socket())
            waiting.settimeout(0)
            waiting.connect_ex(full.getsockname())
        address = f"127.0.0.1:{full.getsockname()[1]}"
        error = await fail(LitellmModel(name, api_base=f"http://{address}", options=options, worker=worker))
    assert "cannot be reached; check the network" in str(error)


@pytest.mark.parametrize("name", ["openai/x", "anthropic/claude-sonnet-4-5", "ollama_chat/llama3.1"])
async def test_a_dead_server_is_named(worker: WorkerProcess, name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    model = LitellmModel(name, api_base=f"http://127.0.0.1:{port}/v1", options=OPTIONS, worker=worker)
    error = await fail(model)
    assert str(error).startswith(f"Connection refused by 127.0.0.1:{port}; start ")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("groq/llama", "GROQ_API_KEY is not set; export it or choose another model with --model."),
        (
            "nobody/knows",
            (
                '"nobody/knows" names no provider that is known; '
                "write provider/model, such as openai/gpt-4.1-mini, or use --model offline."
            ),
        ),
    ],
)
async def test_what_cannot_be_asked_is_explained(worker: WorkerProcess, name: str, sentence: str) -> None:
    assert str(await fail(LitellmModel(name, worker=worker))) == sentence


@pytest.mark.slow
async def test_after_the_process_was_killed_the_next_request_works(
    model_environ: dict[str, str], openai_server: FakeOpenAIServer
) -> None:
    worker = WorkerProcess(model_environ)  # no fork, which lives on for a moment after what stands for it was killed
    model = LitellmModel("openai/gpt-4.1-mini", api_base=openai_server.url, options=OPTIONS, worker=worker)
    try:
        await model.start()
        first = worker.pid
        assert first is not None
        openai_server.reset(FakeReply(text="Hello", ending=Ending.HANG), FakeReply(text="Back."))
        async for event in model.stream(make_request()):
            assert event == TextDelta("Hell")
            os.kill(first, signal.SIGKILL)
            break
        assert join_text(await collect(model)) == "Back."
        assert worker.pid not in (None, first)
    finally:
        await worker.close()


@pytest.mark.slow
@pytest.mark.usefixtures("hostile_folder")
async def test_nothing_is_imported_from_the_working_directory(
    model_environ: dict[str, str], openai_server: FakeOpenAIServer
) -> None:
    openai_server.reset(FakeReply(text="Safe."))
    model = LitellmModel("openai/x", api_base=openai_server.url, options=OPTIONS, environ=model_environ)
    assert join_text(await collect(model)) == "Safe."
    await model.close()
