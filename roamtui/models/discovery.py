"""Find out which models can be used here. No provider gets a request, unless a person asks for a trial."""

import json
import os
from collections.abc import Mapping
from contextlib import aclosing, closing
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.messages import OFFLINE, Message, Role
from roamtui.errors import ModelError, SourceError, UsageError
from roamtui.models.base import Model, ModelRequest, RetryPending, format_window
from roamtui.models.litellm_model import LitellmModel
from roamtui.models.local_servers import LOCAL_SERVERS, OLLAMA_URL, LocalServer, is_loopback, read_openai
from roamtui.models.options import ModelOptions
from roamtui.models.providers import PROVIDERS, get_key_variable
from roamtui.models.registry import is_model_name, make_model
from roamtui.models.tool_spec import ToolSpec
from roamtui.models.worker_process import WorkerProcess
from roamtui.models.worker_protocol import ResolvedModel
from roamtui.parallel import run_parallel
from roamtui.web.page import FetchOptions
from roamtui.web.urls import AllowedOrigins, normalise_url, origin_of

_PROBE_SECONDS_MAX = 3.0
"""On a busy machine, a server that runs may need more than a second."""
_KEYLESS_PROVIDER = "hosted_vllm"
"""litellm's provider for any server with OpenAI's interface that needs no key."""
_REPLY_BYTES_MAX = 1_000_000
_OFFLINE_REASON = "finds passages without a model, a key or a network"


class ModelOffer(Struct, frozen=True, kw_only=True):
    """A usable model that is proposed to the person."""

    name: str
    """Value for `--model`."""
    note: str
    """Reason for the offer, such as ``OPENAI_API_KEY is set``."""
    provider: str = ""
    """Provider that would receive questions and sections, so that the person must agree first; empty for
    local models."""
    api_base: str = ""
    """URL of the server, which is saved with the name; empty for the provider's own server."""
    needs_test: bool = False
    """Whether it is tested by a request for one token before it is used."""
    is_known_to_work: bool = False
    """Whether it needs nothing, or its server has just listed it."""


class ModelAvailability(Struct, frozen=True, kw_only=True):
    """Whether a model can be used here, and why."""

    name: str
    is_usable: bool
    reason: str
    """Why it is usable or not. Names the variable of a key, never the key."""
    provider: str = ""
    """Title of the provider; empty for a model that was asked for by name."""
    resolved: ResolvedModel | None = None
    """What is known about a model that was asked for by name."""
    small_reason: str = ""
    """Why it gets each question in one short request; empty if it does not."""


class ServerStatus(Struct, frozen=True, kw_only=True):
    """The models of a server, or the reason why there are none."""

    url: str
    """Without credentials."""
    models: Mapping[str, int | None] = {}
    """Each with its context window, if the list names it."""
    problem: str = ""
    """Why none of its models can be used, in a few words; empty if there are models."""


def list_usable_models() -> tuple[ModelOffer, ...]:
    """List one model of each provider whose key is set, and then `offline`, without asking a server."""
    offline, *others = inspect_providers()
    offers = [
        ModelOffer(name=report.name, note=report.reason, provider=report.provider, needs_test=True)
        for report in others
        if report.is_usable
    ]
    return (*offers, ModelOffer(name=offline.name, note=offline.reason, is_known_to_work=True))


def inspect_providers() -> tuple[ModelAvailability, ...]:
    """Report whether `offline`, and one model of each known provider, can be used. Providers need a key."""
    reports = [ModelAvailability(name=OFFLINE, is_usable=True, reason=_OFFLINE_REASON)]
    for name, provider in PROVIDERS.items():
        if model := provider.suggestion:
            key = get_key_variable(name, os.environ)
            reason = f"needs {provider.key_variables[0]}" if key is None else f"the key {key} is set"
            report = ModelAvailability(
                name=model, is_usable=key is not None, reason=reason, provider=provider.title
            )
            reports.append(report)
    return tuple(reports)


async def inspect_model(
    name: str, *, api_base: str | None = None, options: ModelOptions | None = None
) -> ModelAvailability:
    """Report whether a model can be used, and why: litellm, the person's own server and a trial must agree.

    The trial is a request for one token.
    """
    worker = WorkerProcess()
    try:
        model = make_model(name, api_base=api_base, options=options, worker=worker)
        if not isinstance(model, LitellmModel):
            return ModelAvailability(name=name, is_usable=True, reason=_OFFLINE_REASON)
        resolved = await model.learn()
        is_usable, reason = _explain_usability(resolved)
        if is_usable:
            trial = make_model(name, api_base=api_base, options=options, worker=worker, is_test=True)
            await request_one_token(trial)
            reason = f"{reason}; the model answered"
            resolved = replace(resolved, can_call_tools=not trial.refuses_tools)
        return ModelAvailability(
            name=name, is_usable=is_usable, reason=reason, resolved=resolved, small_reason=model.small_reason
        )
    except (UsageError, ModelError) as error:
        return ModelAvailability(name=name, is_usable=False, reason=str(error))
    finally:
        await worker.close()


def _explain_usability(resolved: ResolvedModel) -> tuple[bool, str]:
    """Return whether a model can be used, and why. Only a trial shows whether the server has it."""
    if not resolved.is_usable:
        return False, f"the key {' or '.join(resolved.missing_keys)} is not set"
    if resolved.problem:
        return False, resolved.problem
    if key_variable := get_key_variable(resolved.provider, os.environ):
        return True, f"the key {key_variable} is set"
    return True, f"uses {resolved.address}" if resolved.address else "no missing keys"


async def request_one_token(model: Model) -> None:
    """Test a model that was made with `is_test` by a short request without text of a document.

    Raises:
        ModelError: The model could not answer.
    """
    tool = ToolSpec(name="wait", description="Do nothing.", parameters={"type": "object", "properties": {}})
    question = Message(role=Role.USER, text="Say yes.")
    async with aclosing(model.stream(ModelRequest(messages=(question,), tools=(tool,)))) as events:  # type: ignore[type-var]
        async for event in events:
            if not isinstance(event, RetryPending):
                return  # some servers do not stop after one token


def probe_server(server_url: str, seconds: float = _PROBE_SECONDS_MAX) -> ServerStatus:
    """List the models of a server by one GET request, in at most `seconds`. No key is sent."""
    from roamtui.web.fetcher import Fetcher  # noqa: PLC0415

    try:
        url = normalise_url(server_url).rstrip("/")
        origin = origin_of(server_url)
    except SourceError:
        return ServerStatus(url="?", problem=f"the URL is not valid; write it like this: {OLLAMA_URL}")
    options = FetchOptions(total_seconds_max=seconds, body_bytes_max=_REPLY_BYTES_MAX, redirects_max=0)
    models: dict[str, int | None] = {}
    with closing(Fetcher(cache_dir=None, options=options)) as fetcher:
        try:
            url_of_list = url.removesuffix("/v1") + "/v1/models"
            page = fetcher.fetch(url_of_list, AllowedOrigins(typed=frozenset({origin})))
            reply = json.loads(page.body)
            names = sorted(str(entry["id"]) for entry in reply["data"] or ())
            models = {name: read_openai(reply, name=name).window_tokens for name in names}
        except SourceError as error:
            problem = str(error)
        except (ValueError, KeyError, TypeError, RecursionError):
            problem = "the server at this URL did not list its models"
        else:
            problem = "" if models else "the server at this URL has no models yet"
    return ServerStatus(url=url, models=models, problem=problem)


def _identify(url: str) -> tuple[str | None, int | None, str]:
    """Return the host, port and path of a server. All names of this machine are the same host."""
    try:
        parts = urlsplit(normalise_url(url))
    except SourceError:  # `probe_server` reports it
        return url, None, ""
    host = "localhost" if is_loopback(url) else parts.hostname
    return host, parts.port, parts.path.rstrip("/").removesuffix("/v1")


def discover_models(
    server_url: str | None = None, model: str = OFFLINE
) -> tuple[tuple[ModelOffer, ...], str]:
    """List the models of the servers on this machine, and say in a few words which servers have any.

    The server that the person chose, `server_url`, is asked too, even on another machine, but no others. Its
    provider is assumed to be that of `model`, the model in the settings.

    Raises:
        SourceError: `server_url` is invalid.
    """
    own_urls = ((server, os.environ.get(server.variable, "").strip()) for server in LOCAL_SERVERS)
    urls = {server: url or server.default_url for server, url in own_urls}
    places = {server: url for server, url in urls.items() if is_loopback(url)}
    if server_url is not None and _identify(server_url) not in map(_identify, places.values()):
        provider = model.partition("/")[0] if "/" in model else _KEYLESS_PROVIDER
        server_url = normalise_url(server_url)
        places[LocalServer(urlsplit(server_url).netloc, provider, server_url)] = server_url
    statuses = [*zip(places, run_parallel(probe_server, places.values()), strict=True)]
    offers: list[ModelOffer] = []
    for server, status in statuses:
        is_here = is_loopback(status.url)
        for served, window_tokens in status.models.items():
            if "embed" in served or not is_model_name(served):
                continue
            window = [format_window(window_tokens)] if window_tokens else []
            privacy = ["nothing leaves this machine"] if is_here else []
            offer = ModelOffer(
                name=f"{server.provider}/{served}",
                note=", ".join((server.title, *window, *privacy)),
                provider="" if is_here else server.title,
                api_base=status.url,
                needs_test=True,
                is_known_to_work=True,
            )
            offers.append(offer)
    found = ", ".join(server.title for server, status in statuses if status.models)
    tried = ", ".join(server.title for server in places) or "all are on other machines"
    words = [f"Found {found}" if found else f"No models found ({tried})"]
    words += [
        f"{status.url}: {status.problem}"
        for server, status in statuses
        if status.problem and server not in urls
    ]
    return tuple(offers), " · ".join(words)
