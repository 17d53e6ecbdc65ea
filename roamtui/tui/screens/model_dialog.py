"""`ModelPicker` and `ModelDialog`: choose a model, or add one by its name, URL and key, after a test."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from functools import partial

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static
from typing_extensions import override

from roamtui.conversation.transcript import Message, Role
from roamtui.document.plain import sanitise_line, shorten
from roamtui.errors import RoamtuiError
from roamtui.models.base import Model, ModelRequest, TextDelta
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
        self._tried = context.tried_models
        self._offers = {offer.name: offer for offer in context.options.list_models()}
        super().__init__("Model", self._list_choices(), self._current, foot=_HINT)

    def _list_choices(self) -> tuple[PickerItem[str], ...]:
        """List the current model, then the models that work, are not tested yet, have failed, or lack a key."""
        current, failures = self._current, self._tried.failures
        choices = [PickerItem(value=current, label=current, note="in use", group=_READY_GROUP, sign="●")]
        offers = [offer for offer in self._offers.values() if offer.name != current]
        for offer in sorted(offers, key=lambda offer: (bool(failures.get(offer.name)), not self._works(offer))):
            sign = "✗" if failures.get(offer.name) else "✓" if self._works(offer) else ""
            note = failures.get(offer.name) or offer.note
            choices.append(PickerItem(value=offer.name, label=offer.name, note=note, group=_READY_GROUP, sign=sign))
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
        return offer.is_known_to_work or self._tried.failures.get(offer.name) == ""

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
        offer, make_model = self._offers.get(item), self._options.make_model
        if item == self._current:
            self.dismiss(item)
        elif offer is not None and offer.provider and offer.provider not in self._tried.approved_providers:
            question = f"Use {offer.name}? Your questions and opened sections will be sent to {offer.provider}."
            ConfirmDialog(question, offer.note, yes="Use").ask(self.app, partial(self._test, offer))
        elif offer is not None:
            self._test(offer)
        elif make_model is not None:
            self.app.push_screen(ModelDialog(make_model, "" if item == _OTHER_MODEL else item), self._use_form)

    def _use_form(self, chosen: tuple[Model, str] | None) -> None:
        if chosen is not None:
            self._use(*chosen)

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
    async def _test(self, offer: ModelOffer) -> None:
        """Choose a model if it replies to a request of one token. Otherwise, show why it does not."""
        self._tried.approved_providers.add(offer.provider)
        make_model = self._options.make_model
        assert make_model is not None
        try:
            if offer.needs_test:
                self.show_message(f"Testing {sanitise_line(offer.name)} with one token… esc to cancel")
                await probe_model(make_model(offer.name, offer.api_base or None, is_test=True))
            model = make_model(offer.name, offer.api_base or None)
        except RoamtuiError as error:
            failure = self._tried.failures[offer.name] = adapt_flags(sanitise_line(str(error)))
            self._list_again(failure, is_problem=True)
        else:
            self._tried.failures[offer.name] = ""
            self._use(model, offer.api_base)


class ModelDialog(Dialog[tuple[Model, str] | None]):
    """Asks for a model's name, URL and key, and tests the model. The key is only used in this run.

    The result is the model and the URL of its server, which is empty for the provider's own.
    """

    AUTO_FOCUS = "#model-name"

    def __init__(self, make_model: Callable[..., Model], name: str) -> None:
        """Make models with `make_model`. `name` is in the field at the start."""
        super().__init__()
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (24, "-tall")]
        self._make_model = make_model
        self._name = name
        self._tested_fields: tuple[str, str, str] | None = None
        """The fields with which the model last replied, or None."""
        self._test_lock = asyncio.Lock()
        """Held while a test has the typed key in the environment. A second test would take it for the earlier value."""

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
            yield Static(id="model-message")
            yield Static(Content("tab for the next field, enter to test with one token, esc to cancel"), classes="foot")

    def on_mount(self) -> None:
        if self._name:
            self.query_one("#model-key").focus()

    @property
    def _fields(self) -> tuple[str, str, str]:
        name, url, key = (field.value.strip() for field in self.query(Input))
        return name, url, key

    def _show_message(self, words: str, *, is_problem: bool = False) -> None:
        message = self.query_one("#model-message", Static)
        message.set_class(is_problem, "-problem")
        message.update(Content(words))

    @on(Input.Submitted)
    def _submit(self, event: Input.Submitted) -> None:
        event.stop()
        if self._tested_fields == self._fields:
            name, url, _ = self._fields
            self.dismiss((self._make_model(name, url or None, is_test=False), url))
        elif self._fields[0]:
            self._tested_fields = None
            self.run_worker(self._test_in_turn(*self._fields), exclusive=True, exit_on_error=False)

    async def _test_in_turn(self, name: str, url: str, key: str) -> None:
        async with self._test_lock:
            await self._test(name, url, key)

    async def _test(self, name: str, url: str, key: str) -> None:
        """Ask the model for one token, and show its reply. If that fails, discard the key."""
        self._show_message("Testing…")
        variable = get_recommended_key_variable(name)
        previous_value = os.environ.get(variable)
        if key:
            os.environ[variable] = key
        try:
            reply = await probe_model(self._make_model(name, url or None, is_test=True))
        except RoamtuiError as error:
            self._show_message(adapt_flags(sanitise_line(str(error))), is_problem=True)
        else:
            self._tested_fields = name, url, key
            receiver = url or name.partition("/")[0]
            self._show_message(
                f"{reply} enter uses it: questions and the sections it opens go to {sanitise_line(receiver)}."
            )
        finally:
            if key and self._tested_fields is None:
                os.environ.pop(variable, None)
                if previous_value is not None:
                    os.environ[variable] = previous_value


async def probe_model(model: Model) -> str:
    """Ask a model a short question without document text. Return its reply and the time it took, in a sentence."""
    started = time.monotonic()
    text = ""
    try:
        request = ModelRequest(messages=(Message(role=Role.USER, text="Say yes."),), allow_calls=False)
        async for event in model.stream(request):
            text += event.text if isinstance(event, TextDelta) else ""
    finally:
        await model.close()
    words = f"“{shorten(sanitise_line(text), 40)}”" if text.strip() else "an empty reply"
    return f"Replied {words} in {time.monotonic() - started:.1f} s."
