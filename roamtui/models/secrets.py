"""The variables that hold the keys of providers, and texts without these keys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple


class Provider(NamedTuple):
    """A provider of models."""

    title: str
    """Name for display."""
    key_variables: tuple[str, ...] = ()
    """Variables that may hold the key, the recommended one first. Empty if litellm should decide."""
    suggestion: str = ""
    """Name of a model that can call tools, has room for an outline, and is cheap if possible."""


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider("OpenAI", ("OPENAI_API_KEY",), "openai/gpt-4.1-mini"),
    "anthropic": Provider("Anthropic", ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"), "anthropic/claude-sonnet-4-5"),
    "gemini": Provider("Gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY"), "gemini/gemini-2.5-flash"),
    "mistral": Provider("Mistral", ("MISTRAL_API_KEY",), "mistral/mistral-large-latest"),
    "groq": Provider("Groq", ("GROQ_API_KEY",), "groq/openai/gpt-oss-120b"),
    "openrouter": Provider("OpenRouter", ("OPENROUTER_API_KEY",), "openrouter/openai/gpt-4.1-mini"),
    "deepseek": Provider("DeepSeek", ("DEEPSEEK_API_KEY",), "deepseek/deepseek-chat"),
    "voyage": Provider("Voyage AI", ("VOYAGE_API_KEY",)),
    "cohere": Provider("Cohere", ("COHERE_API_KEY", "CO_API_KEY")),
    "ollama_chat": Provider("Ollama"),
    "azure": Provider("Azure"),
    "bedrock": Provider("Bedrock"),
    "vertex_ai": Provider("Vertex AI"),
}
"""Providers by the names that litellm gives them."""

_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?\d*(?:_|\Z)", re.IGNORECASE)
_SECRET_LENGTH_MIN = 8
"""Shorter values, such as ``true``, are hardly secrets, and masking them would remove ordinary words."""
MASK = "[redacted]"
_SECRET_SHAPES = re.compile(
    r"\b(?:sk|pk|gsk|xai|hf|AIza|AKIA)[-_]?[\w*.-]{8,}|(?<=Bearer )\S+|(?<=[?&]key=)[^&\s]+", re.ASCII
)


def list_key_variables(provider: str) -> tuple[str, ...]:
    """Return the variables that may hold a provider's key, the recommended one first."""
    known, upper = PROVIDERS.get(provider), provider.upper()
    return (known and known.key_variables) or (f"{upper}_API_KEY", f"{upper.replace('_', '')}_API_KEY")


def get_key_variable(provider: str, environ: Mapping[str, str]) -> str | None:
    """Return the variable that holds the key of a provider, or None if no such variable is set."""
    return next((name for name in list_key_variables(provider) if environ.get(name, "").strip()), None)


def get_recommended_key_variable(model: str) -> str:
    """Return the variable in which the key for a model should be set."""
    return list_key_variables(model.partition("/")[0] if "/" in model else "openai")[0]


def redact_secrets(text: str, environ: Mapping[str, str]) -> str:
    """Mask the values of variables that are named like secrets, and text that looks like a key."""
    values = {value.strip() for name, value in environ.items() if _SECRET_NAME.search(name)}
    secrets = sorted((value for value in values if len(value) >= _SECRET_LENGTH_MIN), key=len, reverse=True)
    if secrets:
        text = re.sub("|".join(map(re.escape, secrets)), MASK, text)
    return _SECRET_SHAPES.sub(MASK, text)
