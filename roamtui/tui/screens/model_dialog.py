"""`ModelDialog`: adds a model by its name, URL and key, after a test."""

from __future__ import annotations

import asyncio
import os
import time

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static
from typing_extensions import override

from roamtui.conversation.transcript import Message, Role
from roamtui.document.plain import sanitise_line, shorten
from roamtui.errors import RoamtuiError
from roamtui.models.base import Model, ModelRequest, TextDelta
from roamtui.models.secrets import get_recommended_key_variable
from roamtui.tui.context import ModelFactory
from roamtui.tui.screens.dialogs import Dialog
from roamtui.tui.status_line import adapt_flags


class ModelDialog(Dialog[tuple[Model, str] | None]):
    """Asks for a model's name, URL and key, and tests the model. The key is only used in this run.

    The result is the model and the URL of its server, which is empty for the provider's own.
    """

    AUTO_FOCUS = "#model-name"

    def __init__(self, make_model: ModelFactory, name: str) -> None:
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
