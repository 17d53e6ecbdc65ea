"""`ModelController`: lets a person choose the model that answers, and save their choice."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from functools import partial

from textual.app import App

from roamtui.document.plain import sanitise_line
from roamtui.errors import RoamtuiError
from roamtui.models.base import Model
from roamtui.models.registry import ModelOffer, inspect_providers
from roamtui.tui.context import AppContext
from roamtui.tui.messages import ModelReleased
from roamtui.tui.screens.dialogs import ConfirmDialog, PickerDialog
from roamtui.tui.screens.pickers import ModelForm

_HINT = "enter to choose, esc to cancel"
_OTHER = "Other model…"


class ModelController:
    """Switches the agent to the model that a person chooses."""

    def __init__(
        self,
        app: App[None],
        context: AppContext,
        on_switched: Callable[[str], None],
        on_failed: Callable[[str], None],
    ) -> None:
        """Ask in dialogs over the screen that `app` shows now.

        Args:
            app: Shows the dialogs.
            context: Has the agent, and the models on offer.
            on_switched: Called with the name of the new model.
            on_failed: Called with a sentence if an offered model cannot be used after all.
        """
        self._app = app
        self._screen = app.screen
        self._agent = context.agent
        self._options = context.options
        self._on_switched = on_switched
        self._on_failed = on_failed
        self._offers = {offer.name: offer for offer in context.options.model_offers}
        """The models that can be used at once, by name."""

    def choose(self) -> None:
        """Show the models, and switch to the one that the person chooses."""
        current = self._agent.model.name
        notes = {name: offer.note for name, offer in self._offers.items() if name != current}
        choices = {current: "in use"} | notes
        if self._options.make_model is not None:
            reports = [report for report in inspect_providers(os.environ) if report.name not in choices]
            choices[_OTHER] = "name, URL and key"  # before the rest, to be seen in a small window
            choices |= {report.name: report.reason for report in reports if not report.is_usable}
        picker = PickerDialog("Model", choices, current, foot=_HINT)

        def take(name: str | None) -> None:
            if name in self._offers and name != current:
                self._confirm_provider(self._offers[name])
            elif name not in (None, current) and self._options.make_model is not None:
                form = ModelForm(self._options.make_model, "" if name == _OTHER else name or "")
                self._app.push_screen(form, take_made)

        def take_made(made: tuple[Model, str] | None) -> None:
            if made is not None:
                model, address = made
                self._switch(model, address)

        self._app.push_screen(picker, take)
        if self._options.discover_models is not None:
            picker.call_after_refresh(picker.run_worker, partial(self._add_discovered, picker), exit_on_error=False)

    async def _add_discovered(self, picker: PickerDialog) -> None:
        """Offer the models that run on this machine too."""
        assert self._options.discover_models is not None
        picker.show_foot(f"{_HINT}\nLooking for Ollama on this machine…")
        offers, summary = await asyncio.to_thread(self._options.discover_models)
        self._offers |= {offer.name: offer for offer in offers}
        if picker.is_attached:
            picker.add_choices({offer.name: offer.note for offer in offers})
            picker.show_foot(f"{_HINT}\n{sanitise_line(summary)}")

    def _confirm_provider(self, offer: ModelOffer) -> None:
        """Switch to a model; if text then leaves this machine, only once the person has agreed."""

        def take(answer: bool | None) -> None:  # noqa: FBT001 - the result of a screen
            if not answer:
                return
            try:
                model = offer.choose()
            except RoamtuiError as error:
                self._on_failed(str(error))
            else:
                self._switch(model, offer.api_base)

        if not offer.provider:
            take(True)  # noqa: FBT003 - as if the person had agreed
            return
        question = f"Use {offer.name}? Your questions and opened sections will be sent to {offer.provider}."
        self._app.push_screen(ConfirmDialog(question, offer.note, yes="Use"), take)

    def _switch(self, model: Model, address: str) -> None:
        """Let a model answer from now on, and offer to save it with its server's address for the next start."""
        before, self._agent.model = self._agent.model, model
        self._screen.post_message(ModelReleased(before))
        self._on_switched(model.name)
        save = self._options.save_settings
        if save is None:
            return

        def take(answer: bool | None) -> None:  # noqa: FBT001 - the result of a screen
            try:
                if answer:  # at once: a worker that has not begun yet is lost when the person quits
                    save({"model": model.name, "api_base": address})
            except RoamtuiError as error:
                self._on_failed(str(error))

        question = "Make this model the default? Saves its name and URL in config.toml, never the key."
        self._app.push_screen(ConfirmDialog(question, model.name, yes="Make default", no="Just this time"), take)
