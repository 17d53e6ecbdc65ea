"""`ModelPicker` and `ModelDialog`: choose a model, or add one by its name, URL and key, after a test."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from functools import partial

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static
from typing_extensions import override

from roamtui.conversation.transcript import Message, Role
from roamtui.document.plain import sanitise_line
from roamtui.errors import RoamtuiError
from roamtui.models.base import Model, ModelRequest
from roamtui.models.registry import ModelOffer, inspect_providers
from roamtui.models.secrets import get_recommended_key_variable
from roamtui.tui.context import AppContext
from roamtui.tui.messages import ModelReleased
from roamtui.tui.screens.dialogs import ConfirmDialog, Dialog
from roamtui.tui.screens.lists import PickerDialog, PickerItem
from roamtui.tui.status_line import adapt_flags

_HINT = "enter to test and use, esc to cancel · ✓ works"
_OTHER_MODEL = "Other model…"
_READY_GROUP = "Ready"
_MISSING_KEY_GROUP = "Missing a key"


class ModelPicker(PickerDialog):
    """Lists the models, tests the chosen one, and lets the agent use it.

    The result is the name of the agent's model, or None if the person leaves.
    """

    def __init__(self, context: AppContext) -> None:
        self._agent = context.agent
        self._current = context.agent.model.name
        self._options = context.options
        self._failures: dict[str, str] = {}
        """Why tested models cannot be used, by name. Empty for models that replied."""
        self._offers = {offer.name: offer for offer in context.options.list_models()}
        super().__init__("Model", self._list_choices(), self._current, foot=_HINT)

    def _list_choices(self) -> tuple[PickerItem[str], ...]:
        """List the current model, then the models that work, are not tested yet, have failed, or lack a key."""
        current, failures = self._current, self._failures
        choices = [PickerItem(value=current, label=current, note="in use", group=_READY_GROUP, sign="●")]
        offers = [offer for offer in self._offers.values() if offer.name != current]
        for offer in sorted(offers, key=lambda offer: (bool(failures.get(offer.name)), not self._works(offer))):
            sign = "✗" if failures.get(offer.name) else "✓" if self._works(offer) else ""
            note = failures.get(offer.name) or offer.note
            choices.append(PickerItem(value=offer.name, label=offer.name, note=note, group=_READY_GROUP, sign=sign))
        if self._options.make_model is not None:
            other = PickerItem(value=_OTHER_MODEL, label=_OTHER_MODEL, note="name, URL and key", group=_READY_GROUP)
            choices.append(other)
            choices += [
                PickerItem(value=report.name, label=report.name, note=report.reason, group=_MISSING_KEY_GROUP)
                for report in inspect_providers(os.environ)
                if not report.is_usable and report.name != current and report.name not in self._offers
            ]
        return tuple(choices)

    def _works(self, offer: ModelOffer) -> bool:
        return offer.is_known_to_work or self._failures.get(offer.name) == ""

    def _list_again(self, message: str, *, is_problem: bool = False) -> None:
        self.choices = self._list_choices()
        self.show()
        self.show_message(message, is_problem=is_problem)

    @on(events.Mount)
    @work(exit_on_error=False)
    async def _add_discovered(self) -> None:
        if self._options.discover_models is not None:
            self.show_message("Looking for models on this machine…")
            offers, summary = await asyncio.to_thread(self._options.discover_models)
            self._offers |= {offer.name: offer for offer in offers}
            self._list_again(sanitise_line(summary))

    @override
    def choose(self, item: str) -> None:
        if item == self._current:
            self.dismiss(None)
        elif offer := self._offers.get(item):
            self._confirm(offer, "")
        else:
            self.app.push_screen(ModelDialog("" if item == _OTHER_MODEL else item), self._add)

    def _add(self, typed: tuple[str, str, str] | None) -> None:
        """Offer a model that the person named, with its URL and key, and test it."""
        if typed is not None:
            name, url, key = typed
            receiver = url or name.partition("/")[0]
            offer = ModelOffer(name=name, note="typed by you", provider=receiver, api_base=url, needs_test=True)
            self._offers[name] = offer
            self._confirm(offer, key)

    def _confirm(self, offer: ModelOffer, key: str) -> None:
        """Test a model, once the person has agreed that its provider gets questions and sections."""
        if offer.provider:
            question = f"Use {offer.name}? Your questions and opened sections will be sent to {offer.provider}."
            ConfirmDialog(question, offer.note, yes="Use").ask(self.app, partial(self._test, offer, key))
        else:
            self._test(offer, key)

    def _use(self, model: Model, url: str) -> None:
        """Let the agent use a model, and offer to do so at the next start. `url` is empty for the provider's own."""
        self.post_message(ModelReleased(self._agent.model))
        self._agent.model = model
        if self._options.save_settings is not None:
            question = "Make this model the default? Saves its name and URL in config.toml, never the key."
            dialog = ConfirmDialog(question, model.name, yes="Make default", no="Just this time")
            dialog.ask(self.app, partial(self._save, {"model": model.name, "api_base": url}))
        self.finish(model.name)

    def _save(self, settings: Mapping[str, str]) -> None:
        try:
            if self._options.save_settings is not None:
                self._options.save_settings(settings)
        except RoamtuiError as error:
            self.app.notify(str(error), severity="error", markup=False)

    @work(group="testing", exclusive=True, exit_on_error=False)
    async def _test(self, offer: ModelOffer, key: str) -> None:
        """Choose a model if it replies to a request of one token. Otherwise, show why, and forget its key."""
        make_model, variable = self._options.make_model, get_recommended_key_variable(offer.name)
        assert make_model is not None
        previous_key = os.environ.get(variable)
        if key:
            os.environ[variable] = key
        try:
            if offer.needs_test:
                self.show_message(f"Testing {sanitise_line(offer.name)} with one token… esc to cancel")
                await probe_model(make_model(offer.name, offer.api_base or None, is_test=True))
            self._use(make_model(offer.name, offer.api_base or None), offer.api_base)
            self._failures[offer.name] = ""
        except RoamtuiError as error:
            failure = self._failures[offer.name] = adapt_flags(sanitise_line(str(error)))
            self._list_again(failure, is_problem=True)
        finally:
            if key and self._failures.get(offer.name) != "":
                os.environ.pop(variable)
                if previous_key is not None:
                    os.environ[variable] = previous_key


class ModelDialog(Dialog[tuple[str, str, str] | None]):
    """Asks for a model's name, URL and key. The key is only used in this run."""

    AUTO_FOCUS = "#model-name"

    def __init__(self, name: str) -> None:
        """Begin with `name` in the field."""
        super().__init__()
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (24, "-tall")]
        self._name = name

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content.styled("Other model", "bold $primary"))
            yield Static(Content("Name (litellm provider/model)"), classes="label")
            yield Input(self._name, placeholder="openai/gpt-4.1-mini", id="model-name", select_on_focus=False)
            yield Static(Content("URL (empty for the provider's default)"), classes="label")
            yield Input(placeholder="http://localhost:8000/v1", id="model-url", select_on_focus=False)
            yield Static(Content("API key (this run only, never saved)"), classes="label")
            yield Input(password=True, placeholder="optional if none is needed or one is set", id="model-key")
            yield Static(Content("tab for the next field, enter to test with one token, esc to cancel"), classes="foot")

    def on_mount(self) -> None:
        if self._name:
            self.query_one("#model-key").focus()

    @on(Input.Submitted)
    def _submit(self, event: Input.Submitted) -> None:
        event.stop()
        name, url, key = (field.value.strip() for field in self.query(Input))
        if name:
            self.dismiss((name, url, key))


async def probe_model(model: Model) -> None:
    """Ask a model a short question without document text.

    Raises:
        RoamtuiError: The model cannot be used. The message says why.
    """
    try:
        request = ModelRequest(messages=(Message(role=Role.USER, text="Say yes."),), allow_calls=False)
        async for _ in model.stream(request):
            pass
    finally:
        await model.close()
