"""Servers that run models on a person's own machine: where they listen, and what they say about a model.

`ask_server` runs in the process of litellm, so that its HTTP client refuses redirects and imports nothing at
start.
"""

import asyncio
import importlib
import ipaddress
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

OLLAMA_URL = "http://127.0.0.1:11434"
OLLAMA_WINDOW_TOKENS = 32_768
"""Default for `num_ctx`, because Ollama's own default is small, and longer input is silently truncated."""
ASSUMED_WINDOW_TOKENS = 4_096
"""Window of a server on this machine that does not say it. Most start with this size."""
_WINDOW_TOKENS_MIN, _WINDOW_TOKENS_MAX = 256, 20_000_000
"""A server that says less or more is not believed."""
_PARAMETERS_MIN, _PARAMETERS_MAX = 1_000_000, 10**14
_PARAMETER_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s?([KMBT])\Z")
"""How Ollama writes a number of parameters, such as `494.03M`."""
_FACTORS = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_ASKING_SECONDS = 3.0
_OPENAI_PROVIDERS = frozenset({"openai", "lm_studio", "llamafile", "hosted_vllm", "litellm_proxy"})
"""Providers whose servers list their models at ``/v1/models``."""


class LocalServer(NamedTuple):
    """A program that serves models on this machine."""

    title: str
    provider: str
    """litellm's provider for it, which needs no key."""
    default_url: str
    variable: str = ""
    """Environment variable in which litellm looks for its URL."""
    window_setting: str = ""
    """How a person gives it a larger context window."""


_URL = "http://127.0.0.1:{}/v1"
LOCAL_SERVERS = (
    LocalServer("Ollama", "ollama_chat", OLLAMA_URL, "OLLAMA_API_BASE", "OLLAMA_CONTEXT_LENGTH"),
    LocalServer("LM Studio", "lm_studio", _URL.format(1234), "LM_STUDIO_API_BASE", "its context length"),
    LocalServer("llama.cpp", "llamafile", _URL.format(8080), "LLAMAFILE_API_BASE", "--ctx-size"),
    LocalServer("vLLM", "hosted_vllm", _URL.format(8000), "HOSTED_VLLM_API_BASE", "--max-model-len"),
)


class ServerFacts(Struct, frozen=True, kw_only=True):
    """What a server says about a model. Values without sense are None."""

    window_tokens: int | None = None
    """Size of the context window that it has now."""
    window_tokens_max: int | None = None
    """Size that the window can have at most."""
    can_call_tools: bool | None = None
    parameters: int | None = None
    """Number of the model's parameters."""


def find_server(provider: str) -> LocalServer | None:
    """Return the local server that litellm knows as `provider`."""
    return next((server for server in LOCAL_SERVERS if server.provider == provider), None)


def is_loopback(url: str) -> bool:
    """Return whether a URL names this machine."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def complete_url(url: str, provider: str) -> str:
    """Add the path of the API to a server's URL that has no path. Ollama's has none."""
    is_bare = provider in _OPENAI_PROVIDERS and urlsplit(url).path in ("", "/")
    return f"{url.rstrip('/')}/v1" if is_bare else url


async def ask_server(provider: str, url: str, name: str, key: str | None) -> ServerFacts:
    """Ask a server about the model `name`, in a few seconds.

    Only servers that can be asked without starting anything are asked.

    Raises:
        Exception: The server cannot be reached: a timeout, or an exception of httpx.
    """
    root = url.rstrip("/").removesuffix("/v1")
    httpx: Any = importlib.import_module("httpx")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with asyncio.timeout(_ASKING_SECONDS), httpx.AsyncClient(headers=headers) as client:
            if provider == "ollama_chat":
                loaded = await _read_json(client, f"{root}/api/ps")
                shown = await _read_json(client, f"{root}/api/show", {"model": name})
                return parse_ollama(loaded, shown, name)
            if provider not in _OPENAI_PROVIDERS:
                return ServerFacts()
            if provider == "lm_studio":
                return parse_lm_studio(await _read_json(client, f"{root}/api/v0/models"), name)
            facts = parse_models(await _read_json(client, f"{root}/v1/models"), name)
            facts = parse_properties(await _read_json(client, f"{root}/props"), facts)
            if facts.window_tokens is None:
                windows = parse_lm_studio(await _read_json(client, f"{root}/api/v0/models"), name)
                facts = replace(
                    facts,
                    window_tokens=windows.window_tokens,
                    window_tokens_max=windows.window_tokens_max,
                )
            return facts
    except (TimeoutError, httpx.ConnectError, httpx.ConnectTimeout):
        raise
    except Exception:  # noqa: BLE001 -- a server may break HTTP in any way; then it has said nothing
        return ServerFacts()


async def _read_json(client: Any, url: str, body: Mapping[str, str] | None = None) -> object:  # noqa: ANN401
    """Return the JSON of a reply, or None if it has none."""
    response = await client.request("GET" if body is None else "POST", url, json=body)
    try:
        return json.loads(response.content) if response.status_code == 200 else None
    except (ValueError, RecursionError):
        return None


def parse_models(reply: object, name: str) -> ServerFacts:
    """Read the list ``/v1/models`` of vLLM or llama.cpp."""
    model = _find_model(_get(reply, "data"), name, "id")
    meta = _get(model, "meta")
    return ServerFacts(
        window_tokens=_get_size(model, "max_model_len") or _get_size(meta, "n_ctx"),
        parameters=_get_number(meta, "n_params", _PARAMETERS_MIN, _PARAMETERS_MAX),
    )


def parse_properties(reply: object, facts: ServerFacts) -> ServerFacts:
    """Add to `facts` what llama.cpp's ``/props`` says: a request's window, and whether it has tools."""
    window = _get_size(_get(reply, "default_generation_settings"), "n_ctx")
    takes_tools = _get(_get(reply, "chat_template_caps"), "supports_tools")
    return replace(
        facts,
        window_tokens=window or facts.window_tokens,
        # a template may have tools and use them badly
        can_call_tools=False if takes_tools is False else None,
    )


def parse_lm_studio(reply: object, name: str) -> ServerFacts:
    """Read the list ``/api/v0/models`` of LM Studio. It knows the windows of loaded models only."""
    model = _find_model(_get(reply, "data"), name, "id")
    return ServerFacts(
        window_tokens=_get_size(model, "loaded_context_length"),
        window_tokens_max=_get_size(model, "max_context_length"),
    )


def parse_ollama(loaded: object, shown: object, name: str) -> ServerFacts:
    """Read ``/api/ps``, which has the loaded models of Ollama, and ``/api/show``, which describes one."""
    running = _find_model(_get(loaded, "models"), name, "name", is_alone=False)
    details = _get(shown, "model_info")
    all_keys = details if isinstance(details, dict) else ()
    keys = [key for key in all_keys if str(key).endswith(".context_length")]
    capabilities = _get(shown, "capabilities")
    size = _PARAMETER_SIZE.match(str(_get(_get(shown, "details"), "parameter_size")))
    count = int(float(size[1]) * _FACTORS[size[2]]) if size is not None else 0
    return ServerFacts(
        window_tokens=_get_size(running, "context_length"),
        window_tokens_max=_get_size(details, keys[0]) if keys else None,
        can_call_tools="tools" in capabilities if isinstance(capabilities, list) else None,
        parameters=count if _PARAMETERS_MIN <= count <= _PARAMETERS_MAX else None,
    )


def _find_model(models: object, name: str, key: str, *, is_alone: bool = True) -> object:
    """Return the entry of a model, or the only entry, because some servers ignore the name."""
    entries = models if isinstance(models, list) else []
    matching = [entry for entry in entries if _get(entry, key) in (name, f"{name}:latest")]
    if not matching and is_alone and len(entries) == 1:
        return entries[0]
    return matching[0] if matching else None


def _get(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, dict) else None


def _get_size(value: object, key: str) -> int | None:
    """Return a window size if it can be true."""
    return _get_number(value, key, _WINDOW_TOKENS_MIN, _WINDOW_TOKENS_MAX)


def _get_number(value: object, key: str, smallest: int, largest: int) -> int | None:
    """Return a whole number if it can be true."""
    number = _get(value, key)
    if not isinstance(number, int) or isinstance(number, bool):
        return None
    return number if smallest <= number <= largest else None
