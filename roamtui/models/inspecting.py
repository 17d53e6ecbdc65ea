"""Which models can be used here, and why not the others. No provider is asked anything."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from roamtui.errors import ModelError, SourceError, UsageError
from roamtui.models.choose import find_usable_models, make_model
from roamtui.models.jobs import Target
from roamtui.models.litellm_model import LitellmModel
from roamtui.models.options import ModelOptions
from roamtui.models.secrets import PROVIDERS, find_key_name
from roamtui.sources.web.address import AllowedOrigins, origin_of, parse_address
from roamtui.sources.web.page import FetchError, FetchOptions, UnreachableError

OLLAMA_ADDRESS = "http://127.0.0.1:11434"
_ADDRESS_NAME = "OLLAMA_API_BASE"
_PATIENCE_SECONDS = 1.0
_LENGTH_MAX = 1_000_000
_OLLAMA = "ollama_chat"


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaReport:
    """What was found at an address."""

    address: str
    """Without anything secret."""
    models: tuple[str, ...] = ()
    problem: str = ""
    """Why no model can be used, a few words; empty where there are some."""


def find_ollama_address(environ: Mapping[str, str]) -> str:
    """Return the address that the person set, else the one that Ollama has by itself."""
    return environ.get(_ADDRESS_NAME, "").strip() or OLLAMA_ADDRESS


def look_up_ollama(address: str, seconds: float = _PATIENCE_SECONDS) -> OllamaReport:
    """Return what is found at `address`, after `seconds` at most."""
    from roamtui.sources.web.fetcher import Fetcher  # noqa: PLC0415 - the first screen waits for none

    try:
        url, origin = parse_address(address).rstrip("/"), origin_of(address)
    except SourceError:
        return OllamaReport(address="?", problem="its address makes no sense; write it like " + OLLAMA_ADDRESS)
    options = FetchOptions(total_seconds_max=seconds, body_bytes_max=_LENGTH_MAX, redirects_max=0, retries_max=0)
    models: tuple[str, ...] = ()
    with closing(Fetcher(cache_dir=None, options=options)) as fetcher:
        try:
            page = fetcher.fetch(f"{url}/api/tags", AllowedOrigins(typed=frozenset({origin})))
            models = tuple(sorted(str(model["name"]) for model in json.loads(page.body)["models"]))
        except FetchError as error:
            problem = "nothing answers there" if isinstance(error, UnreachableError) else "it does not answer"
            problem = f"what answers there is no Ollama ({error.status})" if error.status is not None else problem
        except (SourceError, ValueError, KeyError, TypeError, RecursionError):
            problem = "what answers there is no Ollama"
        else:
            problem = "" if models else "it has no models yet"
    return OllamaReport(address=url, models=models, problem=problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReport:
    """Whether a model can be used here."""

    name: str
    is_usable: bool
    reason: str
    """Why, or why not; a key is named by its variable alone."""
    provider: str | None = None
    window_tokens: int | None = None
    can_call_tools: bool | None = None
    """None where unknown."""


def inspect_providers(environ: Mapping[str, str]) -> tuple[ModelReport, ...]:
    """Return a report on `offline` and on a model of each well-known provider, by the keys that are set."""
    *keyed, offline = find_usable_models(environ)
    reasons = {offer.name: offer.note for offer in keyed}
    reports = [ModelReport(name=offline.name, is_usable=True, reason=offline.note)]
    for name, provider in PROVIDERS.items():
        if model := provider.suggestion:
            reason = reasons.get(model, f"{provider.key_names[0]} is not set")
            reports.append(ModelReport(name=model, is_usable=model in reasons, reason=reason, provider=name))
    return tuple(reports)


async def inspect_model(
    name: str,
    *,
    api_base: str | None = None,
    options: ModelOptions | None = None,
    environ: Mapping[str, str] | None = None,
) -> ModelReport:
    """Return a report on any model: what litellm knows of it, or why its name leads nowhere."""
    try:
        model = make_model(name, api_base=api_base, options=options, environ=environ)
    except UsageError as error:
        return ModelReport(name=name, is_usable=False, reason=str(error))
    if not isinstance(model, LitellmModel):
        reason = "it needs no key and no network"
        return ModelReport(
            name=name, is_usable=True, reason=reason, window_tokens=model.window_tokens, can_call_tools=True
        )
    try:
        description = await model.describe()
    except ModelError as error:
        return ModelReport(name=name, is_usable=False, reason=str(error))
    finally:
        await model.close()
    report = _report(name, description, api_base, os.environ if environ is None else environ)
    if description.provider == _OLLAMA and report.is_usable:
        address = api_base or find_ollama_address(os.environ if environ is None else environ)
        return await asyncio.to_thread(_check_ollama, report, address)
    return report


def _report(name: str, description: Target, api_base: str | None, environ: Mapping[str, str]) -> ModelReport:
    missing = () if description.can_be_asked else description.missing_keys
    key_name = find_key_name(description.provider, environ)
    if missing:
        reason = f"{' or '.join(missing)} is not set"
    elif key_name is not None:
        reason = f"{key_name} is set"
    else:
        reason = f"it is asked at {urlsplit(api_base).netloc}" if api_base else "no key is known to be missing"
    return ModelReport(
        name=name,
        is_usable=not missing,
        reason=reason,
        provider=description.provider,
        window_tokens=description.window_tokens,
        can_call_tools=description.can_call_tools,
    )


def _check_ollama(report: ModelReport, address: str) -> ModelReport:
    found = look_up_ollama(address)
    model = report.name.partition("/")[2]
    if model in found.models or f"{model}:latest" in found.models:
        return replace(report, reason=f"Ollama at {found.address} has it")
    if found.problem:
        reason = f"Ollama at {found.address}: {found.problem}"
    else:
        reason = f'Ollama at {found.address} does not have it; run "ollama pull {model}"'
    return replace(report, is_usable=False, reason=reason)
