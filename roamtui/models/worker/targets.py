"""Where a model name leads: its provider, its server, its key and its limits, without asking a server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from roamtui.models.options import OLLAMA_WINDOW_TOKENS, ModelOptions
from roamtui.models.secrets import KEY_NAMES, PROVIDER_TITLES, find_key_name
from roamtui.models.worker.jobs import Description

_BASE_NAMES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "anthropic": ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"),
    "ollama_chat": ("OLLAMA_API_BASE",),
}
_OLLAMA_BASE = "http://localhost:11434"
_LOCAL_NAMES = (".local", ".localhost", ".internal", ".lan")


class UnknownProviderError(Exception):
    """A model name belongs to no provider that litellm knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The model of a job, resolved."""

    model: str
    """As litellm is given it."""
    provider: str
    api_base: str | None = None
    """None for the provider's own."""
    missing_keys: tuple[str, ...] = ()
    """Variables of which none is set, though the provider's own server wants one."""
    key_name: str | None = None
    """The variable that holds the key."""
    window_tokens: int | None = None
    output_tokens: int | None = None
    can_call_tools: bool | None = None
    input_usd: float | None = None
    """Price of one token sent, None where unknown."""
    output_usd: float | None = None

    @property
    def can_be_asked(self) -> bool:
        """Whether a request makes sense: a server of the person's own may do without a key."""
        return not self.missing_keys or self.api_base is not None

    @property
    def is_ollama(self) -> bool:
        """Whether Ollama answers."""
        return self.provider == "ollama_chat"

    @property
    def is_local(self) -> bool:
        """Whether the server is this machine or one of the same private network, as far as its address tells."""
        try:
            host = urlsplit(self.api_base or "").hostname
        except ValueError:
            return False
        if not host:
            return False
        try:
            return not ip_address(host).is_global
        except ValueError:
            return "." not in host or host.endswith(_LOCAL_NAMES)

    @property
    def address(self) -> str | None:
        """Host and port of `api_base`, None for the provider's own."""
        if self.api_base is None:
            return None
        return urlsplit(self.api_base).netloc.rpartition("@")[2] or self.api_base

    @property
    def title(self) -> str:
        """Who answers, as a person knows it."""
        if self.address is not None and not self.is_ollama:
            return self.address
        return PROVIDER_TITLES.get(self.provider, self.provider)


def find_target(litellm: Any, model: str, api_base: str | None, environ: Mapping[str, str]) -> Target:  # noqa: ANN401
    """Return where `model` leads.

    Raises:
        UnknownProviderError: It leads nowhere.
    """
    provider, model = _find_provider(litellm, model)
    base = api_base or _find_base(provider, environ)
    missing = _find_missing_keys(litellm, model, provider, environ)
    info = _find_limits(litellm, model, provider)
    return Target(
        model=model,
        provider=provider,
        api_base=base,
        missing_keys=missing,
        key_name=find_key_name(provider, environ),
        window_tokens=_as_count(info.get("max_input_tokens")),
        output_tokens=_as_count(info.get("max_output_tokens")),
        can_call_tools=_find_tool_support(litellm, model, provider, info),
        input_usd=_as_price(info.get("input_cost_per_token")),
        output_usd=_as_price(info.get("output_cost_per_token")),
    )


def describe_target(target: Target, options: ModelOptions) -> Description:
    """Return what the program is told of a target."""
    ollama = OLLAMA_WINDOW_TOKENS if target.is_ollama else None
    return Description(
        provider=target.provider,
        window_tokens=options.window_tokens or ollama or target.window_tokens,
        can_call_tools=target.can_call_tools,
        missing_keys=() if target.can_be_asked else target.missing_keys,
        input_usd=target.input_usd,
        output_usd=target.output_usd,
    )


def _find_provider(litellm: Any, model: str) -> tuple[str, str]:  # noqa: ANN401
    if model.startswith("ollama/"):
        # litellm's plain "ollama" has no tool calls: it asks for JSON in the prompt, and gets nothing but JSON.
        model = f"ollama_chat/{model.removeprefix('ollama/')}"
    try:
        _, provider, _, _ = litellm.get_llm_provider(model)
    except Exception as error:
        raise UnknownProviderError(model) from error
    return str(provider), model


def _find_base(provider: str, environ: Mapping[str, str]) -> str | None:
    names = _BASE_NAMES.get(provider, ())
    found = next((environ[name] for name in names if environ.get(name)), None)
    return found or (_OLLAMA_BASE if provider == "ollama_chat" else None)


def _find_missing_keys(litellm: Any, model: str, provider: str, environ: Mapping[str, str]) -> tuple[str, ...]:  # noqa: ANN401
    if provider in KEY_NAMES:
        return () if find_key_name(provider, environ) else KEY_NAMES[provider][:1]
    # Cloud providers also take profiles and tokens from files, of which litellm knows more than its own check.
    missing = litellm.validate_environment(model)["missing_keys"]
    names = tuple(name for name in missing if name.endswith("_API_KEY"))
    return names if len(names) == len(missing) else ()


def _find_limits(litellm: Any, model: str, provider: str) -> Mapping[str, object]:  # noqa: ANN401
    if provider == "ollama_chat":
        return {}  # litellm would ask the server, and wait for it
    try:
        return dict(litellm.get_model_info(model))
    except Exception:  # noqa: BLE001 -- litellm raises a bare Exception for a model that it does not know
        return {}


def _find_tool_support(litellm: Any, model: str, provider: str, info: Mapping[str, object]) -> bool | None:  # noqa: ANN401
    """Return whether a model takes tools, None where unknown. What its provider does not take, litellm drops unsaid."""
    parameters = litellm.get_supported_openai_params(model, custom_llm_provider=provider)
    if parameters is not None and "tools" not in parameters:
        return False
    said = info.get("supports_function_calling")
    return said if isinstance(said, bool) else None


def _as_count(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _as_price(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None
