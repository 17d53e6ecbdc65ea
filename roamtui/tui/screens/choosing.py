"""Choosing colours and models from a list."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.app import App
from textual.theme import BUILTIN_THEMES

from roamtui.document.plain import plain_line
from roamtui.errors import RoamtuiError
from roamtui.models.choose import ModelOffer
from roamtui.tui.screens.overlays import Choice, ConfirmScreen, PickerScreen

if TYPE_CHECKING:
    from roamtui.models.base import Model


_NO_OFFERS = (
    "Nothing else is usable here yet. Set a key such as OPENAI_API_KEY or ANTHROPIC_API_KEY, or start Ollama; any"
    " model of litellm can be named with --model. esc closes."
)


_HINT = "enter chooses, esc closes"
LookForModels = Callable[[], "tuple[tuple[ModelOffer, ...], str]"]
"""Looks for models, and says in a few words what came of it; called in a thread."""


def choose_theme(app: App[None], keep: Callable[[str], None]) -> None:
    """Let a person choose a theme; each shows itself as they go over it, and `keep` is called with their choice."""
    before = app.theme
    themes = [theme for theme in app.available_themes.values() if not theme.primary.startswith("ansi")]
    themes.sort(key=lambda theme: (theme.name in BUILTIN_THEMES, theme.name))
    choices = [Choice(theme.name, "dark" if theme.dark else "light") for theme in themes]

    def preview(name: str) -> None:
        app.theme = name

    def finish(name: str | None) -> None:
        app.theme = name or before
        if name is not None and name != before:
            keep(name)

    app.push_screen(PickerScreen("Theme", choices, before, preview=preview), finish)


def choose_model(
    app: App[None],
    current: str,
    offers: tuple[ModelOffer, ...],
    use: Callable[[Model], None],
    complain: Callable[[str], None],
    look: LookForModels | None = None,
) -> None:
    """Let a person choose a model, and ask once more before text goes to a provider that they have not agreed to.

    Args:
        app: Shows the screens.
        current: Name of the model in use.
        offers: What else is usable here.
        use: Called with the model chosen.
        complain: Called with a sentence where it cannot be used.
        look: Looks for more models, while the list is there already.
    """
    by_name = {offer.name: offer for offer in offers}
    choices = [Choice(current, "in use")]
    choices += [Choice(offer.name, offer.note) for offer in offers if offer.name != current]

    def take(name: str | None) -> None:
        offer = by_name.get(name or "")
        if offer is None or name == current:
            return

        def agree(answer: bool | None) -> None:  # noqa: FBT001 - the result of a screen
            if answer:
                try:
                    use(offer.choose())
                except RoamtuiError as error:
                    complain(str(error))

        if not offer.provider:
            agree(True)  # noqa: FBT003 - as if a person had said it
            return
        question = f"Use {offer.name}? Your questions and the sections that are opened go to {offer.provider}."
        app.push_screen(ConfirmScreen(question, offer.note, yes="Use it"), agree)

    foot = _HINT if len(choices) > 1 else _NO_OFFERS
    screen = PickerScreen("Model", choices, current, foot=foot)

    async def add_found() -> None:
        assert look is not None
        screen.show_foot(f"{foot}\nlooking for an Ollama on this machine…")
        found, words = await asyncio.to_thread(look)
        by_name.update((found_offer.name, found_offer) for found_offer in found)
        if screen.is_attached:
            screen.add_choices([Choice(found_offer.name, found_offer.note) for found_offer in found])
            screen.show_foot(f"{_HINT if found else foot}\n{plain_line(words)}")

    app.push_screen(screen, take)
    if look is not None:
        screen.call_after_refresh(screen.run_worker, add_found, exit_on_error=False)


def ask_to_keep_model(app: App[None], name: str, keep: Callable[[str], None]) -> None:
    """Ask whether a model is to be used from now on, and call `keep` with its name where it is."""

    def take(answer: bool | None) -> None:  # noqa: FBT001 - the result of a screen
        if answer:
            keep(name)

    question = "Use this model at the next start too? Then config.toml names it."
    app.push_screen(ConfirmScreen(question, name, yes="From now on", no="This time"), take)
