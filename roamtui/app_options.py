"""What the app is started with, made from settings and arguments. Imports no screen."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from roamtui.models.choose import find_usable_models, make_model
from roamtui.setting_file import save_setting
from roamtui.settings import config_path, themes_path
from roamtui.sources.stamp import stamp_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from roamtui.app_arguments import ModelArguments
    from roamtui.document.library import Library
    from roamtui.settings import Settings
    from roamtui.tui.context import ModelOffer, TuiOptions


def make_tui_options(settings: Settings, arguments: ModelArguments, examples: tuple[str, ...]) -> TuiOptions:
    """Return how the app looks, which keys it has and which models it offers."""
    from roamtui.tui.context import TuiOptions  # noqa: PLC0415 - other commands need nothing of the screen

    return TuiOptions(
        theme=settings.theme,
        keys={action: (keys,) for action, keys in settings.keys.items()},
        themes_dirs=(themes_path(),),
        examples=examples,
        model_offers=offer_models(settings, arguments),
        save_setting=partial(save_setting, config_path()),
        may_save_model=settings.api_base is None,
    )


def choose_reader(library: Library, read: Callable[[], Library]) -> Callable[[], Library] | None:
    """Return `read` where it can read the same document once more: from a file, not from a pipe."""
    return read if stamp_source(library.source) is not None else None


def offer_models(settings: Settings, arguments: ModelArguments) -> tuple[ModelOffer, ...]:
    """Return the model that the person named, then those that could be used here once they have said yes."""
    from roamtui.tui.context import ModelOffer  # noqa: PLC0415 - other commands need nothing of the screen

    named = arguments.model or settings.model
    named_offer = ModelOffer(
        name=named,
        note="you named it",
        choose=partial(make_model, named, api_base=arguments.api_base or settings.api_base),
    )
    found = (
        ModelOffer(name=offer.name, note=offer.reason, provider=offer.provider, choose=partial(make_model, offer.name))
        for offer in find_usable_models()
        if offer.name != named
    )
    return (named_offer, *found)
