"""How a model is told to a person, with what to know of it."""

from __future__ import annotations

from dataclasses import dataclass

from roamtui.document.plain import plain_line

OFFLINE = "offline"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLabel:
    """A model's name and what to know of it."""

    name: str
    short_note: str
    """For the status line; may be empty."""
    note: str
    """For the first screen."""


def label_model(name: str) -> ModelLabel:
    """Return how to tell of the model with this name."""
    if name == OFFLINE:
        return ModelLabel(
            name=name,
            short_note="no language model",
            note="no key, no network; it quotes, and does not reason.",
        )
    return ModelLabel(name=plain_line(name), short_note="", note="gets your questions and the sections it opens.")
