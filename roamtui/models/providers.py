"""The providers of models that roamtui knows, and the variables that hold their keys."""

from collections.abc import Mapping
from typing import NamedTuple


class Provider(NamedTuple):
    """A provider of models."""

    title: str
    key_variables: tuple[str, ...] = ()
    """Variables that may hold the key, the recommended one first. Empty if litellm should decide."""
    suggestion: str = ""
    """Name of a model that can call tools, has room for an outline, and is cheap if possible."""


_ANTHROPIC_VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider("OpenAI", ("OPENAI_API_KEY",), "openai/gpt-4.1-mini"),
    "anthropic": Provider("Anthropic", _ANTHROPIC_VARIABLES, "anthropic/claude-sonnet-4-5"),
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


def list_key_variables(provider: str) -> tuple[str, ...]:
    """Return the variables that may hold a provider's key, the recommended one first."""
    known = PROVIDERS.get(provider)
    upper = provider.upper()
    return (known and known.key_variables) or (f"{upper}_API_KEY", f"{upper.replace('_', '')}_API_KEY")


def get_key_variable(provider: str, environ: Mapping[str, str]) -> str | None:
    """Return the variable that holds the key of a provider, or None if no such variable is set."""
    return next((name for name in list_key_variables(provider) if environ.get(name, "").strip()), None)


def get_recommended_key_variable(model: str) -> str:
    """Return the variable in which the key for a model should be set."""
    return list_key_variables(model.partition("/")[0] if "/" in model else "openai")[0]
