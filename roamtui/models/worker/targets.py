"""Where a model name leads: its provider, its server, its key and its limits, without asking a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roamtui.models.options import OLLAMA_WINDOW_TOKENS
from roamtui.models.secrets import PROVIDERS, find_key_name
from roamtui.models.worker.jobs import Job, Target

_BASE_NAMES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "anthropic": ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"),
    "ollama_chat": ("OLLAMA_API_BASE",),
}
_OLLAMA_BASE = "http://localhost:11434"


class UnknownProviderError(Exception):
    """A model name belongs to no provider that litellm knows."""


def find_target(litellm: Any, job: Job, environ: Mapping[str, str]) -> Target:  # noqa: ANN401
    """Return where the name of a job's model leads.

    Raises:
        UnknownProviderError: It leads nowhere.
    """
    provider, model = _find_provider(litellm, job.model)
    info = _find_limits(litellm, model, provider)
    known_tokens = OLLAMA_WINDOW_TOKENS if provider == "ollama_chat" else _as_count(info.get("max_input_tokens"))
    return Target(
        model=model,
        provider=provider,
        api_base=job.api_base or _find_base(provider, environ),
        missing_keys=_find_missing_keys(litellm, model, provider, environ),
        key_name=find_key_name(provider, environ),
        window_tokens=job.options.window_tokens or known_tokens,
        output_tokens=_as_count(info.get("max_output_tokens")),
        can_call_tools=_find_tool_support(litellm, model, provider, info),
        input_usd=_as_price(info.get("input_cost_per_token")),
        output_usd=_as_price(info.get("output_cost_per_token")),
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
    known = PROVIDERS.get(provider)
    if known is not None and known.key_names:
        return () if find_key_name(provider, environ) else known.key_names[:1]
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
