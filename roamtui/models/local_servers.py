"""Servers that run models on a person's own machine: where they listen, and what they say about a model.

`fetch_model_facts` runs in the process of litellm. There, the HTTP client refuses redirects, and importing
it does not delay the program.
"""

import asyncio
import importlib
import ipaddress
import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from roamtui.models.base import ModelFacts

OLLAMA_URL = "http://127.0.0.1:11434"
OLLAMA_WINDOW_TOKENS = 32_768
"""Default for `num_ctx`, because Ollama's own default is small, and longer input is silently truncated."""
ASSUMED_WINDOW_TOKENS = 4_096
"""Assumed window of a server on this machine that does not name its window. Most start with this size."""
LARGER_WINDOW = "the server a larger window (llama.cpp: --ctx-size, Ollama: OLLAMA_CONTEXT_LENGTH)"
REPORTED = "the server reports this size"
# A server that says less or more is not believed.
_WINDOWS = range(256, 20_000_001)
_PARAMETERS = range(1_000_000, 10**14)
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


_URL = "http://127.0.0.1:{}/v1"
LOCAL_SERVERS = (
    LocalServer("Ollama", "ollama_chat", OLLAMA_URL, "OLLAMA_API_BASE"),
    LocalServer("LM Studio", "lm_studio", _URL.format(1234), "LM_STUDIO_API_BASE"),
    LocalServer("llama.cpp", "llamafile", _URL.format(8080), "LLAMAFILE_API_BASE"),
    LocalServer("vLLM", "hosted_vllm", _URL.format(8000), "HOSTED_VLLM_API_BASE"),
)


def get_server(provider: str) -> LocalServer | None:
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
    """Add the path of the API to a server's URL that has no path. Ollama's API has no such path."""
    is_bare = provider in _OPENAI_PROVIDERS and urlsplit(url).path in ("", "/")
    return f"{url.rstrip('/')}/v1" if is_bare else url


async def fetch_model_facts(provider: str, url: str, name: str, key: str | None) -> ModelFacts:
    """Ask a server about the model `name`, for a few seconds. Ask only Ollama and servers like OpenAI's.

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
                return read_ollama(loaded, shown, name)
            if provider not in _OPENAI_PROVIDERS:
                return ModelFacts()
            paths = ("/v1/models", "/props", "/api/v0/models")
            return read_openai(*[await _read_json(client, f"{root}{path}") for path in paths], name=name)
    except (TimeoutError, httpx.ConnectError, httpx.ConnectTimeout):
        raise
    except Exception:  # noqa: BLE001 -- a server may break HTTP in any way; then it has said nothing
        return ModelFacts()


async def _read_json(client: Any, url: str, body: Mapping[str, str] | None = None) -> object:  # noqa: ANN401
    """Return the JSON of a reply, or None if it has none."""
    response = await client.request("GET" if body is None else "POST", url, json=body)
    try:
        return json.loads(response.content) if response.status_code == 200 else None
    except (ValueError, RecursionError):
        return None


def read_openai(models: object, properties: object = None, studio: object = None, *, name: str) -> ModelFacts:
    """Read what a server with OpenAI's interface says about a model.

    `models` is the list of vLLM, llama.cpp and others. `properties` are llama.cpp's, with the window of one
    request. `studio` is the list of LM Studio, which knows the windows of loaded models only.
    """
    model = _find_model(_get(models, "data"), name, "id", may_be_alone=True)
    loaded = _find_model(_get(studio, "data"), name, "id", may_be_alone=True)
    windows = (
        _get(properties, "default_generation_settings", "n_ctx"),
        _get(model, "max_model_len"),
        _get(model, "meta", "n_ctx"),
        _get(loaded, "loaded_context_length"),
    )
    window = next(filter(None, (_to_plausible_int(window, _WINDOWS) for window in windows)), None)
    # a chat template may support tools badly, so only one without tools says something
    lacks_tools = _get(properties, "chat_template_caps", "supports_tools") is False
    return ModelFacts(
        window_tokens=window,
        window_note=REPORTED if window else "",
        can_call_tools=False if lacks_tools else None,
        parameters=_to_plausible_int(_get(model, "meta", "n_params"), _PARAMETERS),
    )


def read_ollama(loaded: object, shown: object, name: str) -> ModelFacts:
    """Read ``/api/ps``, which has the loaded models of Ollama, and ``/api/show``, which describes one."""
    running = _find_model(_get(loaded, "models"), name, "name")
    details = _get(shown, "model_info")
    keys = details if isinstance(details, dict) else ()
    window_key = next((key for key in keys if key.endswith(".context_length")), "")
    capabilities = _get(shown, "capabilities")
    limit = _to_plausible_int(_get(details, window_key), _WINDOWS) or OLLAMA_WINDOW_TOKENS
    window = _to_plausible_int(_get(running, "context_length"), _WINDOWS)
    return ModelFacts(
        window_tokens=window or min(OLLAMA_WINDOW_TOKENS, limit),
        window_note=REPORTED if window else "roamtui requests this size from Ollama",
        can_call_tools="tools" in capabilities if isinstance(capabilities, list) else None,
        parameters=_to_plausible_int(_get(details, "general.parameter_count"), _PARAMETERS),
    )


def _find_model(models: object, name: str, key: str, *, may_be_alone: bool = False) -> object:
    """Return the entry of a model or, if it `may_be_alone`, the only one: some servers ignore the name."""
    entries = models if isinstance(models, list) else []
    named = next((entry for entry in entries if _get(entry, key) in (name, f"{name}:latest")), None)
    return entries[0] if named is None and may_be_alone and len(entries) == 1 else named


def _get(value: object, *keys: str) -> object:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _to_plausible_int(value: object, possible: range) -> int | None:
    """Return a value if it is a whole number that can be true, or else None."""
    return value if isinstance(value, int) and value in possible else None
