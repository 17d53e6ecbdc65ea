"""Reads the command line of one command, whose class says by its fields which arguments there are."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, NoReturn, TypeVar

from typing_extensions import override

from roamtui.errors import UsageError
from roamtui.headless.output import write_text
from roamtui.option_fields import SEARCH, Option, OptionError, list_options
from roamtui.search.options import RetrievalOptions
from roamtui.settings import Settings

_T = TypeVar("_T")
_SEARCH_HELP = "Each is also a key of the table [retrieval] in config.toml, which has more of them: docs/search.md."
_SETTINGS = list_options(Settings)
_SEARCH_FLAGS = {name: declared for name, declared in list_options(RetrievalOptions).items() if declared.name}


def parse_arguments(kind: type[_T], program: str, words: Sequence[str]) -> _T:
    """Return what the person asked of a command, whose class has fields for arguments and its help as docstring.

    Raises:
        UsageError: They do not fit.
    """
    parser = _Parser(prog=program, description=kind.__doc__, allow_abbrev=False)
    _add_arguments(kind, parser, {})
    return _build_value(vars(parser.parse_intermixed_args(list(words))), kind)


class _Parser(argparse.ArgumentParser):
    """Tells of wrong use by an exception, in one sentence."""

    @override
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. See `{self.prog} --help`.")

    @override
    def _print_message(self, message: str, file: object = None) -> None:
        write_text(message)  # which tells where it cannot be written: argparse would drop it


def _add_arguments(
    kind: type[Any], parser: argparse.ArgumentParser, exclusive: dict[str, argparse._MutuallyExclusiveGroup]
) -> None:
    """Add the fields of a class to a parser, and of those of which only one may be given, their groups by name."""
    for one in fields(kind):
        if "part" in one.metadata:
            _add_arguments(one.metadata["part"], parser, exclusive)
        elif "option" in one.metadata:
            declared: Option = one.metadata["option"]
            if declared.exclusive_group and declared.exclusive_group not in exclusive:
                exclusive[declared.exclusive_group] = parser.add_mutually_exclusive_group()
            _add_argument(exclusive.get(declared.exclusive_group, parser), one.name, declared)
        for name in one.metadata.get("settings", ()):
            if name == SEARCH:
                group = parser.add_argument_group("search", _SEARCH_HELP)
                for key, setting in _SEARCH_FLAGS.items():
                    _add_argument(group, f"{SEARCH}.{key}", setting, is_setting=True)
            else:
                _add_argument(parser, f"setting.{name}", _SETTINGS[name], is_setting=True)


def _add_argument(place: argparse._ActionsContainer, dest: str, declared: Option, *, is_setting: bool = False) -> None:
    """Add an argument; a setting's is None where it is not given, since the file may say something."""
    options: dict[str, Any] = {"help": declared.help, "default": None if is_setting else declared.default}
    names = [declared.name] if declared.name.startswith("-") else []
    if names and declared.kind is bool:
        switch = "store_false" if declared.default else "store_true"
        place.add_argument(
            *names, dest=dest, action=argparse.BooleanOptionalAction if is_setting else switch, **options
        )
        return
    if names and declared.default is ...:
        options["required"] = True
    options["metavar"] = ("|".join(declared.choices) or declared.metavar) if names else declared.name
    if declared.nargs:
        options["nargs"] = declared.nargs
    elif declared.kind is tuple:
        options |= {"action": "append", "default": list(declared.default)}
    if names and declared.nargs == "?":
        options["const"] = declared.choices[0]
    place.add_argument(*names, dest=dest, type=_make_converter(declared), **options)


def _make_converter(declared: Option) -> Callable[[str], object]:
    def read(text: str) -> object:
        try:
            return declared.from_argument(text)
        except OptionError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def _build_value(values: Mapping[str, Any], kind: type[_T]) -> _T:
    """Return the value of a class, or of one that is part of it, from what was parsed."""
    taken: dict[str, Any] = {}
    for one in fields(kind):  # type: ignore[arg-type]
        if "part" in one.metadata:
            taken[one.name] = _build_value(values, one.metadata["part"])
        elif "settings" in one.metadata:
            taken[one.name] = _collect_overrides(values, one.metadata["settings"])
        elif "option" in one.metadata:
            value = values[one.name]
            taken[one.name] = tuple(value) if isinstance(value, list) else value
    return kind(**taken)


def _collect_overrides(values: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return what was said of settings; an empty text, as of a variable that is not set, says nothing."""
    said = {name: value for name, value in values.items() if value not in (None, "")}
    given = {name: said[f"setting.{name}"] for name in names if f"setting.{name}" in said}
    search = {name: said[f"{SEARCH}.{name}"] for name in _SEARCH_FLAGS if f"{SEARCH}.{name}" in said}
    return {**given, SEARCH: search} if search else given
