"""The flags of search: those options of the settings' table `[retrieval]` that have one."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from roamtui.search.options import SPECS, OptionError, parse_option

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from roamtui.search.options import OptionSpec

_DESCRIPTION = "Each is also a key of the table [retrieval] in config.toml, which has more of them: docs/search.md."
_FLAGS = {name: spec for name, spec in SPECS.items() if spec.has_flag}
_METAVARS: Mapping[type, str] = {int: "N", float: "X", str: "S"}
_PREFIX = "retrieval_"


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the value of one flag, for argparse."""

    name: str

    def __call__(self, text: str) -> object:
        try:
            return parse_option(self.name, text)
        except OptionError as error:
            raise argparse.ArgumentTypeError(f"{error}") from None


def add_retrieval(parser: argparse.ArgumentParser) -> None:
    """Let a command have the flags of search."""
    group = parser.add_argument_group("search", _DESCRIPTION)
    for name, spec in _FLAGS.items():
        flag = f"--{name.replace('_', '-')}"
        if spec.kind is bool:
            group.add_argument(
                flag, dest=_PREFIX + name, action=argparse.BooleanOptionalAction, default=None, help=spec.help
            )
        else:
            read: Callable[[str], object] = _Reader(name)
            group.add_argument(flag, dest=_PREFIX + name, metavar=_name_value(spec), type=read, help=spec.help)


def take_retrieval(values: argparse.Namespace) -> Mapping[str, object]:
    """Take out of parsed values what the person said about search, by option."""
    given = {name: vars(values).pop(_PREFIX + name) for name in _FLAGS}
    return {name: value for name, value in given.items() if value is not None}


def _name_value(spec: OptionSpec) -> str:
    if issubclass(spec.kind, StrEnum):
        return "|".join(choice.value for choice in spec.kind)
    return _METAVARS[spec.kind]
