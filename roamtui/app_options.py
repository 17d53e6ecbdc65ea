"""What the app is started with, made from settings and arguments. Imports no screen."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from roamtui.locations import config_path, themes_path
from roamtui.models.choose import ModelOffer, find_usable_models, make_model
from roamtui.setting_file import save_setting
from roamtui.sources.stamp import stamp_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from roamtui.app_arguments import ModelArguments
    from roamtui.document.library import Library
    from roamtui.settings import Settings
    from roamtui.tui.context import TuiOptions

_OLLAMA = "ollama_chat"
"""What litellm calls it."""


def make_tui_options(settings: Settings, arguments: ModelArguments, examples: tuple[str, ...]) -> TuiOptions:
    """Return how the app looks, which keys it has and which models it offers."""
    from roamtui.tui.context import TuiOptions  # noqa: PLC0415 - other commands need nothing of the screen

    return TuiOptions(
        theme=settings.theme,
        keys={action: (keys,) for action, keys in settings.keys.items()},
        themes_dirs=(themes_path(),),
        examples=examples,
        model_offers=offer_models(settings, arguments),
        look_for_models=partial(find_local_models, settings),
        save_setting=partial(save_setting, config_path()),
        may_save_model=settings.api_base is None,
    )


def find_local_models(settings: Settings) -> tuple[tuple[ModelOffer, ...], str]:
    """Return the models of an Ollama on this machine, and in a few words what was found; no other machine is asked."""
    from roamtui.models.inspecting import find_ollama_address, look_up_ollama  # noqa: PLC0415 - only on request

    address = find_ollama_address(os.environ)
    if not _is_here(address):
        return (), "Ollama is set to another machine; name its model with --model"
    report = look_up_ollama(address)
    if report.problem:
        return (), f"Ollama at {report.address}: {report.problem}"
    offers = tuple(
        ModelOffer(
            name=name,
            note="runs on this machine, no text leaves it",
            choose=partial(make_model, name, api_base=report.address, options=settings.model_options(name)),
        )
        for name in (f"{_OLLAMA}/{model}" for model in report.models if "embed" not in model)
    )
    count = "1 model" if len(offers) == 1 else f"{len(offers)} models"
    return offers, f"Ollama at {report.address}: {count}"


def _is_here(address: str) -> bool:
    """Return whether an address is on this machine, whatever its port."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return False
    return host in ("localhost", "::1") or host.startswith("127.")


def choose_reader(library: Library, read: Callable[[], Library]) -> Callable[[], Library] | None:
    """Return `read` where it can read the same document once more: from a file, not from a pipe."""
    return read if stamp_source(library.source) is not None else None


def offer_models(settings: Settings, arguments: ModelArguments) -> tuple[ModelOffer, ...]:
    """Return the model that the person named, then those that could be used here once they have said yes."""
    named = arguments.model or settings.model
    has_cap = settings.cost_cap(arguments.max_cost_usd) is not None
    choose_options = partial(settings.model_options, has_spending_cap=has_cap)
    api_base = arguments.api_base or settings.api_base
    named_offer = ModelOffer(
        name=named,
        note="you named it",
        choose=partial(make_model, named, api_base=api_base, options=choose_options(named)),
    )
    found = (offer for offer in find_usable_models(choose_options=choose_options) if offer.name != named)
    return (named_offer, *found)
