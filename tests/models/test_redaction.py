"""No key comes back from a model: not in an error message, not in a reply, however a reply is cut into pieces."""

import json
from collections.abc import AsyncGenerator

import pytest

from roamtui.errors import ModelError
from roamtui.models.base import ModelEvent, ReplyFinished, TextDelta, ThinkingDelta
from roamtui.models.litellm_model import LitellmModel
from roamtui.models.redaction import list_keys, mask_keys, redact_secrets, strip_keys
from roamtui.models.worker_process import WorkerProcess
from roamtui.sanitiser import MASK
from tests.case_files import read_rows
from tests.fakes.model_servers import Ending, FakeAnthropicServer, FakeOllamaServer, FakeOpenAIServer, FakeReply
from tests.models.asking import OPTIONS, collect, collect_into, join_text, list_calls
from tests.models.conftest import ANTHROPIC_KEY, OPENAI_KEY


@pytest.mark.parametrize(("name", "value", "is_secret"), read_rows("models/redaction", "variables"))
def test_variables_that_are_named_like_secrets_are_masked(name: str, value: str, is_secret: bool) -> None:  # noqa: FBT001
    assert redact_secrets("a12345678b", {name: value}) == (f"a{MASK}b" if is_secret else "a12345678b")


ENVIRON = {
    "OPENAI_API_KEY": "plain-value-1234",
    "MY_TOKEN": "tok",
    "EDITOR": "nano-editor",
    "LONG_SECRET": "plain-value",
}


@pytest.mark.parametrize(("text", "redacted"), read_rows("models/redaction", "texts"))
def test_no_key_stays(text: str, redacted: str) -> None:
    assert redact_secrets(text, ENVIRON) == redacted


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://skylab.example/v1", "https://skylab.example/v1"),
        ("http://lm-studio:1234/v1/", "http://lm-studio:1234/v1/"),
        ("https://me:pass?word@a.example/v1?key=1#k", "https://a.example/v1"),
        ("https://a.example/0123456789abcdef/v1", f"https://a.example/{MASK}/v1"),
        ("localhost:11434", "localhost:11434"),
        ("http://[", "http://["),
        ("", ""),
    ],
)
def test_the_url_of_a_server_is_kept_without_keys(url: str, kept: str) -> None:
    assert strip_keys(url, {"A_KEY": "lm-studio", "B_KEY": "0123456789abcdef"}) == kept


@pytest.mark.parametrize(
    ("name", "value", "is_key"),
    [
        ("X_API_KEY", "0123456789abcdef", True),
        ("AWS_BEARER_TOKEN_BEDROCK", " 0123456789abcdef ", True),
        ("X_API_KEY", "0123456789abcde", False),
        ("OLLAMA_API_KEY", "ollama", False),
        ("GOOGLE_APPLICATION_CREDENTIALS", __file__, False),
        ("EDITOR", "0123456789abcdef", False),
    ],
)
def test_only_long_values_that_are_named_like_keys_are_masked_in_replies(
    name: str,
    value: str,
    is_key: bool,  # noqa: FBT001
) -> None:
    assert list_keys({name: value}) == ((value.strip(),) if is_key else ())


SERVERS: dict[str, tuple[str, type[FakeOpenAIServer | FakeAnthropicServer | FakeOllamaServer]]] = {
    "openai": ("openai/gpt-4.1-mini", FakeOpenAIServer),
    "anthropic": ("anthropic/claude-sonnet-4-5", FakeAnthropicServer),
    "ollama": ("ollama/llama3.1", FakeOllamaServer),
}


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(
    ("dialect", "chunk_size"),
    [*(("openai", size) for size in (1, 3, 7, 25, 26, 27, 500)), ("anthropic", 7), ("ollama", 7)],
)
async def test_a_key_in_a_reply_is_masked_wherever_its_pieces_end(
    worker: WorkerProcess, dialect: str, chunk_size: int
) -> None:
    text = f"Your keys are {OPENAI_KEY} and sk-{ANTHROPIC_KEY}{OPENAI_KEY}, but sk-open is a shop in s"
    name, server_type = SERVERS[dialect]
    with server_type(FakeReply(text=text, chunk_size=chunk_size)) as server:
        model = LitellmModel(name, api_base=server.url, options=OPTIONS, worker=worker)
        events = await collect(model)
    assert join_text(events) == f"Your keys are {MASK} and sk-{MASK}{MASK}, but sk-open is a shop in s"


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(("key_characters", "shown"), [(15, OPENAI_KEY[:15]), (16, MASK), (25, MASK)])
@pytest.mark.parametrize("ending", [Ending.WHOLE, Ending.CUT])
async def test_a_reply_that_ends_inside_a_key_shows_little_of_it(
    model: LitellmModel, openai_server: FakeOpenAIServer, key_characters: int, shown: str, ending: Ending
) -> None:
    openai_server.reset(FakeReply(text=f"It is {OPENAI_KEY[:key_characters]}", chunk_size=3, ending=ending))
    events: list[ModelEvent] = []
    try:
        await collect_into(events, model)
    except ModelError:
        assert ending is Ending.CUT
    assert join_text(events) == f"It is {shown}"


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("dialect", SERVERS)
async def test_a_key_in_a_call_is_masked_even_if_json_escapes_it(worker: WorkerProcess, dialect: str) -> None:
    escaped = "".join(f"\\u{ord(character):04x}" for character in OPENAI_KEY)
    calls = (
        ("search_sections", json.dumps({"query": f"find {OPENAI_KEY}"})),
        ("search_sections", f'{{"query": "find {escaped}"}}'),
        ("search_sections", '{"query": "a \\"plain\\" one"}'),
    )
    name, server_type = SERVERS[dialect]
    with server_type(FakeReply(calls=calls, chunk_size=5)) as server:
        model = LitellmModel(name, api_base=server.url, options=OPTIONS, worker=worker)
        events = await collect(model)
    queries = [json.loads(call.arguments)["query"] for call in list_calls(events)]
    assert queries == [f"find {MASK}", f"find {MASK}", 'a "plain" one']


async def _reply(*events: ModelEvent) -> AsyncGenerator[ModelEvent, None]:
    for event in events:
        yield event


async def test_text_and_thinking_are_masked_apart() -> None:
    start, end = OPENAI_KEY[:9], OPENAI_KEY[9:]
    events = (
        TextDelta(f"Text {start}"),
        ThinkingDelta(f"Thought {start}"),
        TextDelta(f"{end} more"),
        ThinkingDelta(end),
        ReplyFinished("stop"),
    )
    shown = [event async for event in mask_keys(_reply(*events), (OPENAI_KEY,))]
    assert shown == [
        TextDelta("Text "),
        ThinkingDelta("Thought "),
        TextDelta(f"{MASK} more"),
        ThinkingDelta(MASK),
        ReplyFinished("stop"),
    ]
