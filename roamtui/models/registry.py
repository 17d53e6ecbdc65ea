"""Make models by name. Nothing is started or requested yet."""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from msgspec.structs import replace
from typing_extensions import override

from roamtui.conversation.messages import OFFLINE, RECORDED
from roamtui.errors import ModelError, SourceError, UsageError
from roamtui.models.base import Model, ModelEvent, ModelFacts, ModelRequest
from roamtui.models.litellm_model import LitellmModel
from roamtui.models.options import ModelOptions
from roamtui.models.recorded import RecordedModel
from roamtui.models.worker_process import WorkerProcess
from roamtui.sanitiser import sanitise_line
from roamtui.text import shorten
from roamtui.web.urls import normalise_url


class NoModel(Model):
    """Replaces a model when the agent answers without one. It is never asked."""

    name = OFFLINE
    facts = ModelFacts(server="")

    @override
    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        raise ModelError(f"{OFFLINE} is not a language model. Choose one with --model.")


def make_model(
    name: str,
    *,
    api_base: str | None = None,
    options: ModelOptions | None = None,
    worker: WorkerProcess | None = None,
    is_test: bool = False,
) -> Model:
    """Return the model with this name. Nothing is started or requested yet.

    Several models may share a `worker`, which the caller closes. With `is_test`, a reply is one token long,
    and not retried.

    Raises:
        UsageError: The name or URL is invalid.
    """
    if name == RECORDED:
        return RecordedModel()
    shown = shorten(sanitise_line(name), 80)
    if name.casefold().startswith(("http://", "https://")):
        advice = "Start roamtui with --api-base, and name a model of that server, as in openai/NAME."
        raise UsageError(f'"{shown}" is a URL, not the name of a model. {advice}')
    if not is_model_name(name):
        raise UsageError(f'invalid model name "{shown}". Use one like openai/gpt-4.1-mini, or offline.')
    check_server_url(api_base)
    if name == OFFLINE:
        return NoModel()
    if is_test:
        options = replace(options or ModelOptions(), output_tokens=1, retries=0)
    return LitellmModel(name, api_base=api_base, options=options, worker=worker)


def is_model_name(name: str) -> bool:
    """Return whether a text can be the name of a model."""
    return bool(name) and name.isprintable() and " " not in name  # no other space is printable


def check_server_url(api_base: str | None, flag: str = "--api-base") -> None:
    """Reject an invalid server URL.

    Raises:
        UsageError: The URL is invalid or contains a password. The message names the flag.
    """
    if api_base is None:
        return
    try:
        if "@" in urlsplit(api_base).netloc:
            raise UsageError(
                f"{flag} must not contain a user name or password. Keys belong in the environment."
            )
        normalise_url(api_base)
    except (SourceError, ValueError):
        shown = shorten(sanitise_line(api_base), 80)
        words = f'"{shown}" is not the URL of a server. Set {flag} to one like http://localhost:11434.'
        raise UsageError(words) from None
