"""Values of dataclasses to what JSON has, for the disk and for the model's process, and texts back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache

_PLAIN_TYPES = frozenset({str, int, float, bool, type(None)})
"""What most values are: a transcript has thousands, and `dataclasses.asdict` copies each."""


def encode_value(value: object) -> object:
    """Return `value` as JSON has it: dataclasses as objects, tuples as lists."""
    kind: type = type(value)
    if kind in _PLAIN_TYPES:
        return value
    names = _name_fields(kind)
    if names is not None:
        plain: dict[str, object] = {}
        for name in names:
            item = getattr(value, name)
            plain[name] = item if type(item) in _PLAIN_TYPES else encode_value(item)
        return plain
    if isinstance(value, str):
        return value
    if isinstance(value, (tuple, list)):  # before mappings, since an abstract class takes long to ask
        return [item if type(item) in _PLAIN_TYPES else encode_value(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): encode_value(item) for name, item in value.items()}
    return value


@lru_cache(maxsize=256)
def _name_fields(kind: type) -> tuple[str, ...] | None:
    """Return the names of a dataclass's fields, None for every other type."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


def expect_text(value: object) -> str:
    """Return a text.

    Raises:
        TypeError: It is something else.
    """
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def expect_texts(value: object) -> tuple[str, ...]:
    """Return a list of texts.

    Raises:
        TypeError: It is something else, or holds something else.
    """
    if not isinstance(value, list | tuple):
        raise TypeError(value)
    return tuple(map(expect_text, value))
