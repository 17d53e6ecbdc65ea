"""What the program asks of the model process and what comes back, as frames on a pipe.

A frame is a line that holds one JSON object.
"""

from __future__ import annotations

import base64
import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

import msgspec

from roamtui.models.base import ModelEvent, ModelRequest
from roamtui.models.options import ModelOptions
from roamtui.models.secrets import PROVIDERS

Frame = dict[str, Any]
_LOCAL_NAMES = (".local", ".localhost", ".internal", ".lan")
_EMPTY = ModelRequest(messages=())


def encode_frame(frame: Mapping[str, object]) -> bytes:
    """Return the bytes of a frame; lone surrogates pass, escaped."""
    return json.dumps(frame, separators=(",", ":")).encode("ascii") + b"\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is asked of one model of one provider."""

    operation: Literal["describe", "complete", "embed"]
    model: str
    api_base: str | None
    options: ModelOptions
    request: ModelRequest = _EMPTY
    """What is to be completed."""
    texts: tuple[str, ...] = ()
    """What is to be embedded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFailure:
    """Why there is no reply, or no more of it."""

    reason: str
    """What happened: a sentence without its full stop."""
    advice: str
    """What a person can do next, likewise, in small letters."""
    is_transient: bool = False
    """Whether the same request may work so soon that it is worth sending again unasked."""
    is_overflow: bool = False
    """Whether the request was too long for the model."""
    wait_seconds: float | None = None
    """How long the provider asks to wait."""

    @property
    def message(self) -> str:
        """Both in one sentence."""
        return f"{self.reason}; {self.advice}."


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedModel:
    """Where a model's name leads, as far as that is known without asking a server."""

    model: str
    """As litellm is given it."""
    provider: str
    """As litellm calls it."""
    api_base: str | None = None
    """None for the provider's own."""
    missing_keys: tuple[str, ...] = ()
    """Variables of which none is set, though the provider's own server wants one."""
    key_name: str | None = None
    """The variable that holds the key."""
    window_tokens: int | None = None
    output_tokens: int | None = None
    """How much it can write at once."""
    can_call_tools: bool | None = None
    """None where unknown."""
    input_usd: float | None = None
    """Price of one token sent, None where unknown."""
    output_usd: float | None = None
    """Price of one token of a reply, likewise."""

    @property
    def can_be_asked(self) -> bool:
        """Whether a request makes sense: a server of the person's own may do without a key."""
        return not self.missing_keys or self.api_base is not None

    @property
    def is_ollama(self) -> bool:
        """Whether Ollama answers."""
        return self.provider == "ollama_chat"

    @property
    def is_local(self) -> bool:
        """Whether the server is this machine or one of the same private network, as far as its address tells."""
        try:
            host = urlsplit(self.api_base or "").hostname
        except ValueError:
            return False
        if not host:
            return False
        try:
            return not ip_address(host).is_global
        except ValueError:
            return "." not in host or host.endswith(_LOCAL_NAMES)

    @property
    def address(self) -> str | None:
        """Host and port of `api_base`, None for the provider's own."""
        if self.api_base is None:
            return None
        return urlsplit(self.api_base).netloc.rpartition("@")[2] or self.api_base

    @property
    def title(self) -> str:
        """Who answers, as a person knows it."""
        if self.address is not None and not self.is_ollama:
            return self.address
        known = PROVIDERS.get(self.provider)
        return known.title if known else self.provider


@dataclass(frozen=True, slots=True)
class EmbeddingBatch:
    """What comes of a batch of texts, each as base64: a fifth as long as its numbers would be."""

    encoded: tuple[str, ...]

    @classmethod
    def encode(cls, vectors: Sequence[Sequence[float]]) -> EmbeddingBatch:
        """Return vectors in half of their precision."""
        return cls(tuple(base64.b64encode(array("f", vector).tobytes()).decode("ascii") for vector in vectors))

    def decode(self) -> list[array[float]]:
        """Return the vectors."""
        return [array("f", base64.b64decode(vector)) for vector in self.encoded]


JobEvent = ModelEvent | ModelFailure | ResolvedModel | EmbeddingBatch
"""What comes of a job; a fault, a target and vectors are the last, like the end of a reply."""


def encode_event(event: JobEvent) -> dict[str, Any]:
    """Return `event` as plain values, the name of its class under `event`."""
    return {"event": type(event).__name__, "data": msgspec.to_builtins(event)}


def decode_event(frame: Mapping[str, Any]) -> JobEvent:
    """Return the event that `encode_event` made `frame` from.

    Raises:
        KeyError: It is of no known kind.
        msgspec.ValidationError: It lacks a field, or one has another type.
    """
    event: JobEvent = msgspec.convert(frame["data"], _EVENTS[frame["event"]])
    return event


_EVENTS = {event.__name__: event for event in get_args(JobEvent)}
