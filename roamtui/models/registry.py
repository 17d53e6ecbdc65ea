"""Make models by name, and find out which can be used here, without a request to any provider."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import NamedTuple
from urllib.parse import urlsplit

from msgspec import Struct
from typing_extensions import override

from roamtui.conversation.state import RECORDED
from roamtui.document.plain import sanitise_line, shorten
from roamtui.errors import ModelError, SourceError, UsageError
from roamtui.models.base import OFFLINE, PROVIDERS, Model, ModelEvent, ModelOptions, ModelRequest, get_key_variable
from roamtui.models.litellm_model import LitellmModel, WorkerProcess
from roamtui.models.recorded import RecordedModel
from roamtui.sources.web.page import FetchOptions, UnreachableError
from roamtui.sources.web.urls import AllowedOrigins, normalise_url, origin_of

OLLAMA_URL = "http://127.0.0.1:11434"
_PROBE_SECONDS_MAX = 1.0
_REPLY_BYTES_MAX = 1_000_000
_OFFLINE_REASON = "no key, no network"


class NoModel(Model):
    """Stands for a model where the agent answers without one, and so is never asked."""

    name = OFFLINE
    window_tokens = 128_000
    """A limit, so that budgets apply as for other models."""

    @override
    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Refuse the request.

        Raises:
            ModelError: Always.
        """
        raise ModelError(f"{OFFLINE} is not a language model. Choose one with --model.")


class ModelOffer(Struct, frozen=True, kw_only=True):
    """A usable model that is proposed to the person."""

    name: str
    """Value for `--model`."""
    note: str
    """Reason for the offer, such as ``OPENAI_API_KEY is set``."""
    provider: str = ""
    """Provider that would receive questions and sections, so that the person must agree first; empty for local
    models."""
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
    provider: str | None = None
    window_tokens: int | None = None
    can_call_tools: bool | None = None
    """None if unknown."""


class LocalServer(NamedTuple):
    """A program that serves models on this machine."""

    title: str
    provider: str
    """litellm's provider for it, which needs no key."""
    variable: str
    """Environment variable in which litellm looks for its URL."""
    default_url: str


LOCAL_SERVERS = (
    LocalServer("Ollama", "ollama_chat", "OLLAMA_API_BASE", OLLAMA_URL),
    LocalServer("LM Studio", "lm_studio", "LM_STUDIO_API_BASE", "http://127.0.0.1:1234/v1"),
    LocalServer("llama.cpp", "llamafile", "LLAMAFILE_API_BASE", "http://127.0.0.1:8080/v1"),
    LocalServer("vLLM", "hosted_vllm", "HOSTED_VLLM_API_BASE", "http://127.0.0.1:8000/v1"),
)


class ServerStatus(Struct, frozen=True, kw_only=True):
    """The models of a server, or the reason why there are none."""

    url: str
    """Without credentials."""
    models: tuple[str, ...] = ()
    problem: str = ""
    """Why none of its models can be used, in a few words; empty if there are models."""


def make_model(
    name: str,
    *,
    api_base: str | None = None,
    options: ModelOptions | None = None,
    environ: Mapping[str, str] | None = None,
    worker: WorkerProcess | None = None,
) -> Model:
    """Return the model with this name. Nothing is started or requested yet.

    Args:
        name: ``offline``, ``recorded``, or provider and model such as ``openai/gpt-4.1-mini``.
        api_base: URL of the server, or None for the provider's default. `offline` ignores it.
        options: Sizes, timeouts and retries for provider models.
        environ: Environment with the keys, or None for the environment of this process.
        worker: A process to share with other models. The caller closes it.

    Raises:
        UsageError: The name or URL is invalid.
    """
    if name == RECORDED:
        return RecordedModel()
    if not name or not name.isprintable() or any(character.isspace() for character in name):
        shown = shorten(sanitise_line(name), 80)
        raise UsageError(f'invalid model name "{shown}". Use provider/model, such as openai/gpt-4.1-mini, or offline.')
    if name == OFFLINE:
        return NoModel()
    check_server_url(api_base)
    return LitellmModel(name, api_base=api_base, options=options, environ=environ, worker=worker)


def check_server_url(api_base: str | None, flag: str = "--api-base") -> None:
    """Reject an invalid server URL.

    Raises:
        UsageError: The URL is invalid or contains a password. The message names the flag.
    """
    if api_base is None:
        return
    if "@" in api_base:
        raise UsageError(f"{flag} must not contain a name or password. Set the server's key in the environment.")
    try:
        normalise_url(api_base)
    except SourceError:
        shown = shorten(sanitise_line(api_base), 80)
        raise UsageError(f'"{shown}" is not a server URL. Write {flag} like http://localhost:11434.') from None


def list_usable_models(environ: Mapping[str, str] | None = None) -> tuple[ModelOffer, ...]:
    """List one model of each provider whose key is set, and then `offline`, without asking a server."""
    offline, *keyed = inspect_providers(os.environ if environ is None else environ)
    return tuple(
        ModelOffer(
            name=report.name,
            note=report.reason,
            provider=PROVIDERS[report.provider].title if report.provider else "",
            needs_test=report.provider is not None,
            is_known_to_work=report.provider is None,
        )
        for report in (*keyed, offline)
        if report.is_usable
    )


def inspect_providers(environ: Mapping[str, str]) -> tuple[ModelAvailability, ...]:
    """Report whether `offline`, and one model of each known provider, can be used. Providers need a key."""
    reports = [ModelAvailability(name=OFFLINE, is_usable=True, reason=_OFFLINE_REASON)]
    for name, provider in PROVIDERS.items():
        if model := provider.suggestion:
            key = get_key_variable(name, environ)
            reason = f"{provider.key_variables[0]} is not set" if key is None else f"{key} is set"
            reports.append(ModelAvailability(name=model, is_usable=key is not None, reason=reason, provider=name))
    return tuple(reports)


async def inspect_model(
    name: str,
    *,
    api_base: str | None = None,
    options: ModelOptions | None = None,
    environ: Mapping[str, str] | None = None,
) -> ModelAvailability:
    """Report whether a model can be used, and why, from what litellm knows about it."""
    environ = os.environ if environ is None else environ
    try:
        model = make_model(name, api_base=api_base, options=options, environ=environ)
        if not isinstance(model, LitellmModel):
            window = model.window_tokens
            return ModelAvailability(
                name=name, is_usable=True, reason=_OFFLINE_REASON, window_tokens=window, can_call_tools=True
            )
        try:
            found = await model.describe()
        finally:
            await model.close()
    except (UsageError, ModelError) as error:
        return ModelAvailability(name=name, is_usable=False, reason=str(error))
    is_usable, key_variable = found.is_usable, get_key_variable(found.provider, environ)
    if not is_usable:
        reason = f"{' or '.join(found.missing_keys)} is not set"
    elif key_variable is not None:
        reason = f"{key_variable} is set"
    else:
        reason = f"uses {urlsplit(api_base).netloc}" if api_base else "no missing keys"
    if found.is_ollama and is_usable:
        tag = name.partition("/")[2]
        ollama = await asyncio.to_thread(probe_server, api_base or get_ollama_url(environ))
        is_usable = tag in ollama.models or f"{tag}:latest" in ollama.models
        problem = ollama.problem or f'it lacks the model; run "ollama pull {tag}"'
        reason = f"Ollama at {ollama.url}: {'it has the model' if is_usable else problem}"
    return ModelAvailability(
        name=name,
        is_usable=is_usable,
        reason=reason,
        provider=found.provider,
        window_tokens=found.window_tokens,
        can_call_tools=found.can_call_tools,
    )


def get_ollama_url(environ: Mapping[str, str]) -> str:
    """Return the configured Ollama URL, or the default."""
    return environ.get("OLLAMA_API_BASE", "").strip() or OLLAMA_URL


def is_loopback(url: str) -> bool:
    """Return whether a URL names this machine."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def probe_server(server_url: str, seconds: float = _PROBE_SECONDS_MAX) -> ServerStatus:
    """List the models of a server by one GET request, in at most `seconds`. No key is sent."""
    from roamtui.sources.web.fetcher import Fetcher  # noqa: PLC0415 - not needed by the first screen

    try:
        url, origin = normalise_url(server_url).rstrip("/"), origin_of(server_url)
    except SourceError:
        return ServerStatus(url="?", problem="its address is invalid; write it like " + OLLAMA_URL)
    options = FetchOptions(total_seconds_max=seconds, body_bytes_max=_REPLY_BYTES_MAX, redirects_max=0)
    models: tuple[str, ...] = ()
    with closing(Fetcher(cache_dir=None, options=options)) as fetcher:
        try:
            url_of_list = url.removesuffix("/v1") + "/v1/models"
            page = fetcher.fetch(url_of_list, AllowedOrigins(typed=frozenset({origin})))
            entries = json.loads(page.body)["data"] or ()
            models = tuple(sorted(str(entry["id"]) for entry in entries))
        except UnreachableError:
            problem = "no server"
        except (SourceError, ValueError, KeyError, TypeError, RecursionError):
            problem = "it does not list models"
        else:
            problem = "" if models else "it has no models yet"
    return ServerStatus(url=url, models=models, problem=problem)


def discover_local_models() -> tuple[tuple[ModelOffer, ...], str]:
    """List the models of the servers on this machine, and describe the result. No other machine is contacted."""
    urls = {server: os.environ.get(server.variable, "").strip() or server.default_url for server in LOCAL_SERVERS}
    local = {server: url for server, url in urls.items() if is_loopback(url)}
    with ThreadPoolExecutor(len(LOCAL_SERVERS)) as pool:
        found = [*zip(local, pool.map(probe_server, local.values()), strict=True)]
    offers = tuple(
        ModelOffer(
            name=name,
            note=f"{server.title}, nothing leaves this machine",
            api_base=status.url,
            needs_test=True,
            is_known_to_work=True,
        )
        for server, status in found
        for name in (f"{server.provider}/{model}" for model in status.models if "embed" not in model)
        if name.isprintable() and " " not in name  # `make_model` accepts no other names
    )
    names = ", ".join(server.title for server, status in found if status.models)
    usual = ", ".join(server.title for server in LOCAL_SERVERS)
    return offers, f"Found {names} on this machine" if names else f"No local model server found ({usual})"
