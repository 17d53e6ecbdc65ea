"""Messages between the program and the model process. Each is a *frame*: a line with a JSON object."""

import json
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from roamtui.conversation.messages import Usage
from roamtui.errors import ModelError
from roamtui.models.base import ModelEvent, ModelFacts, ModelRequest
from roamtui.models.options import ModelOptions
from roamtui.models.providers import PROVIDERS

Frame = dict[str, Any]
_NO_REQUEST = ModelRequest(messages=())


def encode_frame(frame: Mapping[str, object]) -> bytes:
    """Encode a frame as a line of ASCII JSON, in which even lone surrogates are escaped."""
    return json.dumps(frame, separators=(",", ":")).encode("ascii") + b"\n"


class Job(Struct, frozen=True, kw_only=True):
    """A task for one model of one provider."""

    operation: Literal["describe", "complete", "embed"]
    model: str
    api_base: str | None
    options: ModelOptions
    request: ModelRequest = _NO_REQUEST
    """Only for `complete`."""
    texts: tuple[str, ...] = ()
    """Texts to embed. Only for `embed`."""


class ModelFailure(Struct, frozen=True, kw_only=True, tag=True):
    """Why there is no reply, or only a partial one."""

    reason: str
    """What failed, as a sentence without a full stop."""
    advice: str
    """What the person can do, as a sentence."""
    is_transient: bool = False
    """Whether the same request may soon succeed, so that it is sent again automatically."""
    is_overflow: bool = False
    """Whether the request exceeded the model's context window."""
    window_tokens: int | None = None
    """Size of that window, if the server named it."""
    request_tokens: int | None = None
    """Size of that request, if the server named it."""
    wait_seconds: float | None = None
    """Wait that the provider asks for, or None if it names none."""
    may_cost: bool = False
    """Whether the provider may charge for the request: it was reached, and did not refuse."""


class ProviderError(ModelError):
    """The model process has reported that a model could not answer."""

    def __init__(self, failure: ModelFailure) -> None:
        super().__init__(f"{failure.reason}. {failure.advice}")
        self.failure = failure


class ResolvedModel(ModelFacts, frozen=True, kw_only=True, tag=True):
    """What is known about a model from its name and from the person's own server: enough for requests."""

    model: str
    """litellm's name of the model."""
    provider: str
    """litellm's name of the provider."""
    api_base: str | None = None
    """URL of the server; None for the provider's default."""
    missing_keys: tuple[str, ...] = ()
    """Variables for the key that the provider's own server needs, if none of them is set."""
    key_variable: str | None = None
    problem: str = ""
    """Why the person's own server could not be reached, and what to do, in sentences; usually empty."""

    @property
    def is_usable(self) -> bool:
        """Whether a request may succeed. A server that the person named may need no key."""
        return not self.missing_keys or self.api_base is not None

    @property
    def missing_key_failure(self) -> ModelFailure | None:
        """What the person must do if the key that a request needs is missing."""
        if self.is_usable:
            return None
        reason = f"{self.title} needs a key in the environment variable {' or '.join(self.missing_keys)}"
        advice = "Set this variable, or choose another model with --model."
        return ModelFailure(reason=reason, advice=advice)

    @property
    def is_ollama(self) -> bool:
        """Whether the server is Ollama."""
        return self.provider == "ollama_chat"

    @property
    def address(self) -> str | None:
        """Host and port of `api_base`, or None for the provider's default."""
        if self.api_base is None:
            return None
        return urlsplit(self.api_base).netloc.rpartition("@")[2] or self.api_base

    @property
    def title(self) -> str:
        """The name of the provider or server, for people."""
        if self.address is not None and not self.is_ollama:
            return self.address
        provider = PROVIDERS.get(self.provider)
        return provider.title if provider else self.provider


class EmbeddingBatch(Struct, frozen=True, tag=True):
    """Vectors of a batch of texts."""

    vectors: list[list[float]]
    usage: Usage


JobEvent = ModelEvent | ModelFailure | ResolvedModel | EmbeddingBatch
"""An event of a job. The last one is a failure, a resolved model, vectors, or the end of a reply."""
