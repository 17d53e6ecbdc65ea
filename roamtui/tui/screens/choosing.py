"""Choosing colours and models from a list."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from textual.app import App
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES

from roamtui.document.plain import plain_line
from roamtui.errors import RoamtuiError
from roamtui.models.choose import ModelOffer
from roamtui.tui.chat.welcome import Welcome
from roamtui.tui.commands import ModelDone
from roamtui.tui.context import AppContext
from roamtui.tui.screens.asking import Asking
from roamtui.tui.screens.overlays import Choice, ConfirmScreen, PickerScreen
from roamtui.tui.status_line import StatusLine, label_model

if TYPE_CHECKING:
    from roamtui.models.base import Model


_NO_OFFERS = (
    "Nothing else is usable here yet. Set a key such as OPENAI_API_KEY or ANTHROPIC_API_KEY, or start Ollama; any"
    " model of litellm can be named with --model. esc closes."
)


_HINT = "enter chooses, esc closes"


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


class Choosing:
    """Lets a person choose colours, and the model that answers about a document."""

    def __init__(
        self, screen: Screen[None], context: AppContext, asking: Asking, welcome: Welcome, status: StatusLine
    ) -> None:
        """Change the model of `context`, and what `welcome` and `status` say of it, by workers of `screen`."""
        self._screen = screen
        self._context = context
        self._asking = asking
        self._welcome = welcome
        self._status = status

    def choose_theme(self) -> None:
        """Let a person choose the colours."""
        choose_theme(self._screen.app, partial(self._keep, "theme"))

    def choose_model(self) -> None:
        """Let a person choose a model, and ask once more before text goes to a provider not yet agreed to."""
        options, current = self._context.options, self._context.agent.model.name
        by_name = {offer.name: offer for offer in options.model_offers}
        choices = [Choice(current, "in use")]
        choices += [Choice(offer.name, offer.note) for offer in options.model_offers if offer.name != current]
        foot = _HINT if len(choices) > 1 else _NO_OFFERS
        screen = PickerScreen("Model", choices, current, foot=foot)

        async def add_found() -> None:
            assert options.look_for_models is not None
            screen.show_foot(f"{foot}\nlooking for an Ollama on this machine…")
            found, words = await asyncio.to_thread(options.look_for_models)
            by_name.update((offer.name, offer) for offer in found)
            if screen.is_attached:
                screen.add_choices([Choice(offer.name, offer.note) for offer in found])
                screen.show_foot(f"{_HINT if found else foot}\n{plain_line(words)}")

        def take(name: str | None) -> None:
            if name in by_name and name != current:
                self._agree(by_name[name])

        self._screen.app.push_screen(screen, take)
        if options.look_for_models is not None:
            screen.call_after_refresh(screen.run_worker, add_found, exit_on_error=False)

    def _agree(self, offer: ModelOffer) -> None:
        """Use a model once the person has agreed to where their text goes."""

        def take(answer: bool | None) -> None:  # noqa: FBT001 - the result of a screen
            if answer:
                try:
                    self._use(offer.choose())
                except RoamtuiError as error:
                    self._asking.conversing.note(str(error))

        if not offer.provider:
            take(True)  # noqa: FBT003 - as if a person had said it
            return
        question = f"Use {offer.name}? Your questions and the sections that are opened go to {offer.provider}."
        self._screen.app.push_screen(ConfirmScreen(question, offer.note, yes="Use it"), take)

    def _use(self, model: Model) -> None:
        before, self._context.agent.model = self._context.agent.model, model
        label = label_model(model.name)
        self._status.change(model=label.name, model_note=label.short_note)
        self._welcome.show_model(label)
        self._screen.post_message(ModelDone(before))
        self._screen.run_worker(self._asking.conversing.warm_up(), group="warming", exit_on_error=False)
        if self._context.options.save_setting is None or not self._context.options.may_save_model:
            return

        def keep(answer: bool | None) -> None:  # noqa: FBT001 - the result of a screen
            if answer:
                self._keep("model", model.name)

        question = "Use this model at the next start too? Then config.toml names it."
        self._screen.app.push_screen(ConfirmScreen(question, model.name, yes="From now on", no="This time"), keep)

    def _keep(self, setting: str, value: str) -> None:
        """Write a choice down for the next start."""
        save = self._context.options.save_setting
        if save is not None:
            self._screen.run_worker(asyncio.to_thread(save, setting, value), group="keeping", exit_on_error=False)
