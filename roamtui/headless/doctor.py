"""`roamtui doctor`: what is installed, where files lie, what the terminal can, which models are usable and why not."""

from __future__ import annotations

import asyncio
import os
import platform
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import roamtui
from roamtui.document.plain import plain_line, shorten
from roamtui.headless.output import write_json, write_text
from roamtui.models.inspecting import (
    ModelReport,
    OllamaReport,
    find_ollama_address,
    inspect_model,
    inspect_providers,
    look_up_ollama,
)
from roamtui.models.options import ModelOptions

_PACKAGES = {"Textual": "textual", "litellm": "litellm"}
_MODELS_SHOWN = 5
_NAME_WIDTH_MAX = 34


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where something is kept on this machine."""

    name: str
    path: str
    exists: bool
    is_writable: bool
    """Whether it can be written, or made where it does not exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    """What the program writes to."""

    term: str
    """Value of TERM."""
    columns: int | None
    """None without a terminal."""
    lines: int | None
    colours: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """All that doctor says."""

    versions: Mapping[str, str]
    places: tuple[Place, ...]
    problem: str
    """What is wrong with the settings, a sentence; empty for nothing."""
    terminal: Terminal
    models: tuple[ModelReport, ...]
    """One of each well-known provider."""
    ollama: OllamaReport
    model: ModelReport | None
    """The one that was asked about."""

    @property
    def is_fine(self) -> bool:
        """Whether the model that was asked about can be used, if one was."""
        return self.model is None or self.model.is_usable


def diagnose(
    places: Mapping[str, Path],
    problem: str = "",
    model: str | None = None,
    *,
    api_base: str | None = None,
    model_options: ModelOptions | None = None,
) -> Diagnosis:
    """Look at this machine and return what was found; nothing is made, and no provider is asked.

    Args:
        places: Files and folders of the program by what they hold.
        problem: What is wrong with the settings.
        model: A model to look at more closely.
        api_base: Address of that model's server.
        model_options: How that model is asked.
    """
    environ = os.environ
    return Diagnosis(
        versions=find_versions(),
        places=tuple(examine_place(name, path) for name, path in places.items()),
        problem=problem,
        terminal=examine_terminal(environ),
        models=inspect_providers(environ),
        ollama=look_up_ollama(find_ollama_address(environ)),
        model=None if model is None else asyncio.run(inspect_model(model, api_base=api_base, options=model_options)),
    )


def find_versions() -> dict[str, str]:
    """Return the versions of this program and of what it stands on."""
    found = {"roamtui": roamtui.__version__, "Python": platform.python_version()}
    for title, package in _PACKAGES.items():
        try:
            found[title] = version(package)
        except PackageNotFoundError:
            found[title] = "not installed"
    return {**found, "SQLite": sqlite3.sqlite_version}


def examine_place(name: str, path: Path) -> Place:
    """Return whether something is there, and whether it can be written; nothing is made."""
    nearest = next((folder for folder in (path, *path.parents) if folder.exists()), path)
    is_writable = os.access(nearest, os.W_OK) and (nearest == path or nearest.is_dir())
    return Place(name=name, path=str(path), exists=path.exists(), is_writable=is_writable)


def examine_terminal(environ: Mapping[str, str]) -> Terminal:
    """Return size and colours of the terminal that the program runs in."""
    size = _find_size()
    return Terminal(
        term=environ.get("TERM", ""),
        columns=size.columns if size else None,
        lines=size.lines if size else None,
        colours=_find_colours(environ),
    )


def _find_size() -> os.terminal_size | None:
    for stream in (1, 2, 0):
        try:
            return os.get_terminal_size(stream)
        except OSError:
            continue
    return None


def _find_colours(environ: Mapping[str, str]) -> str:
    term = environ.get("TERM", "")
    if environ.get("NO_COLOR"):
        return "no colours (NO_COLOR is set)"
    if term in ("", "dumb", "unknown"):
        return "no colours"
    if environ.get("COLORTERM", "").lower() in ("truecolor", "24bit") or "direct" in term:
        return "16 million colours"
    return "256 colours" if "256" in term else "16 colours"


def print_diagnosis(diagnosis: Diagnosis, *, as_json: bool = False) -> None:
    """Write a diagnosis on one screen, or as JSON."""
    if as_json:
        write_json(_encode(diagnosis))
        return
    terminal = diagnosis.terminal
    size = f"{terminal.columns} x {terminal.lines}" if terminal.columns else "none here"
    lines = [" · ".join(f"{title} {number}" for title, number in diagnosis.versions.items()), ""]
    lines.append(f"terminal       {size}, {terminal.colours}, TERM={plain_line(terminal.term) or 'is not set'}")
    lines += [f"{place.name:<14} {_describe_place(place)}" for place in diagnosis.places]
    if diagnosis.problem:
        lines.append(f"  {plain_line(diagnosis.problem)}")
    ollama = diagnosis.ollama
    rows = [(report.is_usable, report.name, report.reason) for report in diagnosis.models]
    rows.append((not ollama.problem, "ollama_chat/MODEL", _describe_ollama(ollama)))
    lines += ["", *_align(rows)]
    if diagnosis.model is not None:
        lines += ["", *_describe_model(diagnosis.model)]
    write_text("\n".join(lines) + "\n")


def _encode(diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "versions": dict(diagnosis.versions),
        "terminal": asdict(diagnosis.terminal),
        "places": [
            {"name": place.name, "path": place.path, "exists": place.exists, "writable": place.is_writable}
            for place in diagnosis.places
        ],
        "settings_problem": diagnosis.problem or None,
        "models": [_encode_report(report) for report in diagnosis.models],
        "ollama": asdict(diagnosis.ollama),
        "model": None if diagnosis.model is None else _encode_report(diagnosis.model),
    }


def _encode_report(report: ModelReport) -> dict[str, Any]:
    data = asdict(report)
    return {"name": data.pop("name"), "usable": data.pop("is_usable"), **data}


def _describe_place(place: Place) -> str:
    state = "" if place.exists else "not there yet, "
    return f"{plain_line(place.path)} ({state}{'can be written' if place.is_writable else 'CANNOT BE WRITTEN'})"


def _describe_ollama(ollama: OllamaReport) -> str:
    if ollama.problem:
        return f"{ollama.address}: {ollama.problem}"
    names = ", ".join(plain_line(name) for name in ollama.models[:_MODELS_SHOWN])
    more = len(ollama.models) - _MODELS_SHOWN
    return f"{ollama.address} has {names}{f' and {more} more' if more > 0 else ''}"


def _describe_model(report: ModelReport) -> list[str]:
    known = {True: "has tool calls", False: "has no tool calls: it is told in words", None: "tool calls unknown"}
    window = f"window of {report.window_tokens:,} tokens" if report.window_tokens else "window unknown"
    lines = _align([(report.is_usable, plain_line(report.name), plain_line(report.reason))])
    if report.provider is not None:
        lines.append(f"  provider {report.provider}, {window}, {known[report.can_call_tools]}")
    return lines


def _align(rows: Sequence[tuple[bool, str, str]]) -> list[str]:
    width = min(_NAME_WIDTH_MAX, max(len(name) for _, name, _ in rows))
    return [
        f"{'usable' if is_usable else 'not usable':<14} {shorten(name, 80):<{width}}  {reason}"
        for is_usable, name, reason in rows
    ]
