"""Says whether a model can be used, and why not. No provider is asked anything."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from roamtui.errors import ModelError, UsageError
from roamtui.models.choose import find_usable_models, make_model, suggest_model
from roamtui.models.keys import KEY_NAMES, find_key_name
from roamtui.models.ollama import find_ollama_address, look_up_ollama
from roamtui.models.tool_fallback import ToolFallbackModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from roamtui.models.options import ModelOptions
    from roamtui.models.worker.jobs import Description

_OLLAMA = "ollama_chat"


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
    for provider, names in KEY_NAMES.items():
        model = suggest_model(provider)
        reason = reasons.get(model, f"{names[0]} is not set")
        reports.append(ModelReport(name=model, is_usable=model in reasons, reason=reason, provider=provider))
    return tuple(reports)


async def inspect_model(
    name: str,
    *,
    api_base: str | None = None,
    options: ModelOptions | None = None,
    environ: Mapping[str, str] | None = None,
) -> ModelReport:
    """Return a report on any model: what litellm knows of it, or why its name leads nowhere.

    Args:
        name: As for `make_model`.
        api_base: Address of the server, None for the provider's own.
        options: How it is asked.
        environ: Where keys are looked up, None for this program's environment.
    """
    try:
        model = make_model(name, api_base=api_base, options=options, environ=environ)
    except UsageError as error:
        return ModelReport(name=name, is_usable=False, reason=str(error))
    if not isinstance(model, ToolFallbackModel):
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


def _report(name: str, description: Description, api_base: str | None, environ: Mapping[str, str]) -> ModelReport:
    missing = description.missing_keys
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
