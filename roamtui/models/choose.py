"""From a model's name to a model, and which models a person could use right now."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from roamtui.document.plain import plain_line, shorten
from roamtui.errors import SourceError, UsageError
from roamtui.models.base import Model
from roamtui.models.litellm_model import LitellmModel, WorkerProcess
from roamtui.models.options import ModelOptions
from roamtui.models.recorded import RECORDED, RecordedModel
from roamtui.models.secrets import PROVIDERS, find_key_name
from roamtui.sources.web.address import parse_address

OFFLINE = "offline"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOffer:
    """A model that could be used, once the person has said yes."""

    name: str
    """What to give as `--model`."""
    note: str
    """Why it is offered, such as ``OPENAI_API_KEY is set``."""
    choose: Callable[[], Model]
    """Makes the model; called once a person has said yes."""
    provider: str = ""
    """Who would get questions and sections unasked, so that a person must say yes first; empty where nobody would."""


def make_model(
    name: str,
    *,
    api_base: str | None = None,
    options: ModelOptions | None = None,
    environ: Mapping[str, str] | None = None,
    worker: WorkerProcess | None = None,
) -> Model:
    """Return the model that a person chose; nothing is started or asked yet.

    Args:
        name: ``offline``, ``recorded:FILE``, or provider and model such as ``openai/gpt-4.1-mini``.
        api_base: Address of the server, None for the provider's own; `offline` has none.
        options: Sizes, patience and retries of models with a provider.
        environ: Where keys are looked up, None for this program's environment.
        worker: A process to share with others, which is then theirs to close.

    Raises:
        UsageError: Name or address make no sense, or the file cannot be replayed.
    """
    if name.startswith(RECORDED):
        return RecordedModel(Path(name.removeprefix(RECORDED)).expanduser(), environ)
    if not name or not name.isprintable() or any(character.isspace() for character in name):
        shown = shorten(plain_line(name), 80)
        raise UsageError(
            f'"{shown}" is no name of a model; write provider/model, such as openai/gpt-4.1-mini, or offline.'
        )
    if name == OFFLINE:
        from roamtui.models.offline import OfflineModel  # noqa: PLC0415 - needed by few commands

        return OfflineModel()
    check_address(api_base)
    return LitellmModel(name, api_base=api_base, options=options, environ=environ, worker=worker)


def find_usable_models(
    environ: Mapping[str, str] | None = None,
    choose_options: Callable[[str], ModelOptions] | None = None,
) -> tuple[ModelOffer, ...]:
    """Return a model of each provider whose key is set, then `offline`; no server is asked."""
    found = os.environ if environ is None else environ
    offers = [
        ModelOffer(
            name=(model := provider.suggestion),
            note=f"{key_name} is set",
            choose=partial(make_model, model, options=choose_options and choose_options(model), environ=environ),
            provider=provider.title,
        )
        for name, provider in PROVIDERS.items()
        if provider.suggestion and (key_name := find_key_name(name, found)) is not None
    ]
    offline = ModelOffer(name=OFFLINE, note="it needs no key and no network", choose=partial(make_model, OFFLINE))
    return (*offers, offline)


def check_address(api_base: str | None, flag: str = "--api-base") -> None:
    """Refuse what is no address of a server.

    Raises:
        UsageError: It is none, or holds a password; the message names the flag.
    """
    if api_base is None:
        return
    if "@" in api_base:
        raise UsageError(f"{flag} must not hold a name or password; set the server's key in the environment.")
    try:
        parse_address(api_base)
    except SourceError:
        shown = shorten(plain_line(api_base), 80)
        raise UsageError(f'"{shown}" is no address of a server; write {flag} like http://localhost:11434.') from None
