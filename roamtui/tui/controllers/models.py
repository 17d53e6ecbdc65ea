"""`ModelController`: lets a person choose the model that answers, tests it, and saves the choice."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from textual.screen import Screen

from roamtui.document.plain import sanitise_line
from roamtui.errors import RoamtuiError
from roamtui.models.base import Model
from roamtui.models.registry import ModelOffer, inspect_providers
from roamtui.tui.context import AppContext
from roamtui.tui.messages import ModelReleased
from roamtui.tui.screens.dialogs import ConfirmDialog, PickerDialog, PickerItem
from roamtui.tui.screens.model_dialog import ModelDialog, probe_model
from roamtui.tui.status_line import adapt_flags

_HINT = "enter to test and use, esc to cancel · ✓ works"
_OTHER_MODEL = "Other model…"
_READY_GROUP = "Ready"
_MISSING_KEY_GROUP = "Missing a key"


class ModelController:
    """Switches the agent to the model that a person chooses."""

    def __init__(
        self,
        screen: Screen[None],
        context: AppContext,
        on_switched: Callable[[str], None],
        on_failed: Callable[[str], None],
    ) -> None:
        """Ask in dialogs over `screen`.

        `on_switched` is called with the name of the new model, and `on_failed` with a sentence if an offered model
        cannot be used, or a choice cannot be saved.
        """
        self._screen = screen
        self._agent = context.agent
        self._options = context.options
        self._on_switched = on_switched
        self._on_failed = on_failed
        self._offers = {offer.name: offer for offer in context.options.model_offers}
        """The models that can be used without typing anything, by name."""
        self._failures: dict[str, str] = {}
        """Why tested models cannot be used, by name. Empty for models that replied."""
        self._approved_providers: set[str] = set()
        """Providers to which the person allowed questions and sections to be sent."""
        self._unsaved_url: str | None = None
        """URL of the current model, empty for the provider's own. None if there is nothing to save."""
        self._after_switch: Callable[[], None] | None = None
        """Called after a switch, for example to ask a question again."""

    def choose(self, after_switch: Callable[[], None] | None = None) -> None:
        """Show the models, and switch to the one that the person chooses. `after_switch` is called after a switch."""
        self._after_switch = after_switch
        current = self._agent.model.name
        picker = PickerDialog("Model", self._list_choices(), current, foot=_HINT, on_chosen=self._on_chosen)
        self._picker = picker
        self._screen.app.push_screen(picker)
        if self._options.discover_models is not None:
            picker.call_after_refresh(picker.run_worker, self._add_discovered, exit_on_error=False)

    def _list_choices(self) -> tuple[PickerItem, ...]:
        """List the current model, then the models that work, are not tested yet, have failed, or lack a key."""
        current = self._agent.model.name
        choices = [PickerItem(value=current, label=current, note="in use", group=_READY_GROUP, sign="●")]
        offers = [offer for offer in self._offers.values() if offer.name != current]
        for offer in sorted(offers, key=lambda offer: (bool(self._failures.get(offer.name)), not self._works(offer))):
            failure = self._failures.get(offer.name, "")
            sign = "✓" if self._works(offer) else ""
            note = failure or offer.note
            choices.append(
                PickerItem(
                    value=offer.name, label=offer.name, note=note, group=_READY_GROUP, sign="✗" if failure else sign
                )
            )
        if self._options.make_model is not None:
            choices.append(
                PickerItem(value=_OTHER_MODEL, label=_OTHER_MODEL, note="name, URL and key", group=_READY_GROUP)
            )
            choices += [
                PickerItem(value=report.name, label=report.name, note=report.reason, group=_MISSING_KEY_GROUP)
                for report in inspect_providers(os.environ)
                if not report.is_usable and report.name != current and report.name not in self._offers
            ]
        return tuple(choices)

    def _works(self, offer: ModelOffer) -> bool:
        return offer.is_known_to_work or self._failures.get(offer.name) == ""

    async def _add_discovered(self) -> None:
        assert self._options.discover_models is not None
        picker = self._picker
        picker.show_foot(f"{_HINT}\nLooking for models on this machine…")
        offers, summary = await asyncio.to_thread(self._options.discover_models)
        self._offers |= {offer.name: offer for offer in offers}
        if picker.is_attached:
            picker.set_choices(self._list_choices())
            picker.show_foot(f"{_HINT}\n{sanitise_line(summary)}")

    def _on_chosen(self, name: str) -> None:
        picker, make_model = self._picker, self._options.make_model
        if name == self._agent.model.name:
            picker.dismiss(None)
            if self._unsaved_url is not None:
                self._screen.call_next(self._ask_to_save, self._unsaved_url)
        elif name in self._offers:
            self._confirm_provider(self._offers[name])
        elif make_model is not None:
            form = ModelDialog(make_model, "" if name == _OTHER_MODEL else name)
            self._screen.app.push_screen(form, self._use_form)

    def _use_form(self, model_and_url: tuple[Model, str] | None) -> None:
        if model_and_url is not None:
            self._picker.dismiss(None)
            self._switch(*model_and_url)

    def _confirm_provider(self, offer: ModelOffer) -> None:
        """Test a model and switch to it. If text would leave this machine, first ask the person."""

        def test() -> None:
            self._approved_providers.add(offer.provider)
            self._picker.run_worker(self._test(offer), group="testing", exclusive=True, exit_on_error=False)

        if not offer.provider or offer.provider in self._approved_providers:
            test()
        else:
            question = f"Use {offer.name}? Your questions and opened sections will be sent to {offer.provider}."
            ConfirmDialog(question, offer.note, yes="Use").ask(self._screen.app, test)

    async def _test(self, offer: ModelOffer) -> None:
        """Switch to a model if it replies to a request of one token. Otherwise, show why it does not."""
        picker, make_model = self._picker, self._options.make_model
        try:
            if offer.needs_test and make_model is not None:
                picker.show_foot(f"Testing {sanitise_line(offer.name)} with one token… esc to cancel")
                await probe_model(make_model(offer.name, offer.api_base or None, is_test=True))
            model = offer.make_model()
        except RoamtuiError as error:
            failure = adapt_flags(sanitise_line(str(error)))
            self._failures[offer.name] = failure
            picker.set_choices(self._list_choices())
            picker.show_foot(failure)
        else:
            self._failures[offer.name] = ""
            picker.finish(None)
            self._switch(model, offer.api_base)

    def _switch(self, model: Model, url: str) -> None:
        """Let a model answer from now on, and offer to save it with its server's URL for the next start."""
        previous_model, self._agent.model = self._agent.model, model
        self._screen.post_message(ModelReleased(previous_model))
        self._on_switched(model.name)
        if self._after_switch is not None:
            self._after_switch()
        self._unsaved_url = url
        self._screen.call_next(self._ask_to_save, url)  # not now: a dialog over the closing list would lose its answer

    def _ask_to_save(self, url: str) -> None:
        name, save = self._agent.model.name, self._options.save_settings
        if save is None:
            return

        def save_choice() -> None:  # without a worker, which would be lost if the person quits before it begins
            try:
                save({"model": name, "api_base": url})
                self._unsaved_url = None
            except RoamtuiError as error:
                self._on_failed(str(error))

        question = "Make this model the default? Saves its name and URL in config.toml, never the key."
        ConfirmDialog(question, name, yes="Make default", no="Just this time").ask(self._screen.app, save_choice)
