"""No key comes back from a model: not in an error message, not in a reply, however a reply is cut into pieces."""

import json
from collections.abc import AsyncGenerator

import pytest

from roamtui.conversation.events import ToolCall
from roamtui.errors import ModelError
from roamtui.models.base import ModelEvent, ReplyFinished, TextDelta, ThinkingDelta, ToolCallReceived
from roamtui.models.litellm_model import LitellmModel
from roamtui.models.redaction import list_keys, mask_keys, redact_secrets, strip_keys
from roamtui.models.worker_process import WorkerProcess
from roamtui.plain import MASK
from tests.case_files import read_rows
from tests.fakes.model_servers import Ending, FakeOpenAIServer, FakeReply
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
        ("AWS_BEARER_TOKEN_BEDROCK", " 0123456789abcdef ", True),
        ("X_API_KEY", "0123456789abcde", False),
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


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("chunk_size", [1, 7, 25, 26, 27, 500])
async def test_a_key_in_a_reply_is_masked_wherever_its_pieces_end(
    worker: WorkerProcess, openai_server: FakeOpenAIServer, chunk_size: int
) -> None:
    text = f"Your keys are {OPENAI_KEY} and sk-{ANTHROPIC_KEY}{OPENAI_KEY}, but sk-open is a shop in s"
    calls = (("search_sections", json.dumps({"query": f"find {OPENAI_KEY}"})),)
    openai_server.reset(FakeReply(text=text, calls=calls, chunk_size=chunk_size))
    model = LitellmModel("openai/gpt-4.1-mini", api_base=openai_server.url, options=OPTIONS, worker=worker)
    events = await collect(model)
    assert join_text(events) == f"Your keys are {MASK} and sk-{MASK}{MASK}, but sk-open is a shop in s"
    assert [json.loads(call.arguments) for call in list_calls(events)] == [{"query": f"find {MASK}"}]


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(("key_characters", "shown"), [(15, OPENAI_KEY[:15]), (16, MASK), (25, MASK)])
@pytest.mark.parametrize("ending", [Ending.WHOLE, Ending.CUT])
async def test_a_reply_that_ends_inside_a_key_shows_little_of_it(
    worker: WorkerProcess, openai_server: FakeOpenAIServer, key_characters: int, shown: str, ending: Ending
) -> None:
    openai_server.reset(FakeReply(text=f"It is {OPENAI_KEY[:key_characters]}", chunk_size=3, ending=ending))
    model = LitellmModel("openai/gpt-4.1-mini", api_base=openai_server.url, options=OPTIONS, worker=worker)
    events: list[ModelEvent] = []
    try:
        await collect_into(events, model)
    except ModelError:
        assert ending is Ending.CUT
    assert join_text(events) == f"It is {shown}"


async def _reply(*events: ModelEvent) -> AsyncGenerator[ModelEvent, None]:
    for event in events:
        yield event


async def test_text_and_thinking_are_masked_apart_and_come_before_a_call() -> None:
    start, end = OPENAI_KEY[:9], OPENAI_KEY[9:]
    call = ToolCallReceived(ToolCall(id="1", name="search_sections", arguments="{}"))
    events = (
        *(TextDelta(f"Text {start}"), ThinkingDelta(f"Thought {start}")),
        *(TextDelta(f"{end} on maps"), ThinkingDelta(end), call, ReplyFinished("stop")),
    )
    shown = [event async for event in mask_keys(_reply(*events), (OPENAI_KEY,))]
    assert shown == [
        *(TextDelta("Text "), ThinkingDelta("Thought "), TextDelta(f"{MASK} on map"), ThinkingDelta(MASK)),
        *(TextDelta("s"), call, ReplyFinished("stop")),
    ]
