"""Which environment variables hold secrets, and which of them the keys of which provider."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY_NAMES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "mistral": ("MISTRAL_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
}
"""By litellm's name of the provider, any one of them suffices, the first is the one to advise."""

PROVIDER_TITLES: Mapping[str, str] = {
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "gemini": "Gemini",
    "mistral": "Mistral",
    "groq": "Groq",
    "openrouter": "OpenRouter",
    "deepseek": "DeepSeek",
    "ollama_chat": "Ollama",
    "azure": "Azure",
    "bedrock": "Bedrock",
    "vertex_ai": "Vertex AI",
}
"""Providers as people write them."""

_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?\d*(?:_|\Z)", re.IGNORECASE)
_SECRET_LENGTH_MIN = 8
"""Anything shorter is a switch, not a secret, and would take words out of texts."""


def find_secrets(environ: Mapping[str, str]) -> frozenset[str]:
    """Return the values of variables that are named like secrets: no file and no message may hold them."""
    values = (value.strip() for name, value in environ.items() if _SECRET_NAME.search(name))
    return frozenset(value for value in values if len(value) >= _SECRET_LENGTH_MIN)


def find_key_name(provider: str, environ: Mapping[str, str]) -> str | None:
    """Return the variable that holds this provider's key, None where none is set."""
    upper = provider.upper()
    names = KEY_NAMES.get(provider, (f"{upper}_API_KEY", f"{upper.replace('_', '')}_API_KEY"))
    return next((name for name in names if environ.get(name, "").strip()), None)
