"""`roamtui doctor`: the installation, file locations, the terminal, and which models are usable."""

from __future__ import annotations

import asyncio
import os
import platform
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import roamtui
from roamtui.document.plain import sanitise_line, shorten
from roamtui.headless.output import write_json, write_text
from roamtui.models.options import ModelOptions
from roamtui.models.registry import ModelAvailability, get_ollama_url, inspect_model, inspect_providers, probe_server

_PACKAGES = {"Textual": "textual", "litellm": "litellm"}
_MODELS_SHOWN = 5
_NAME_WIDTH_MAX = 34
_TOOL_CALLS = {
    True: "has tool calls",
    False: "no tool calls (described in the prompt instead)",
    None: "tool support unknown",
}


def collect_diagnostics(
    paths: Mapping[str, Path],
    problem: str = "",
    model: str | None = None,
    *,
    api_base: str | None = None,
    model_options: ModelOptions | None = None,
) -> dict[str, Any]:
    """Inspect this machine and return JSON values; nothing is created, and no provider is asked.

    `paths` are the program's files and folders by name, `problem` is what is wrong with the settings. A `model` is
    inspected more closely.
    """
    inspected = None
    if model is not None:
        inspected = asyncio.run(inspect_model(model, api_base=api_base, options=model_options))
    versions = {"roamtui": roamtui.__version__, "Python": platform.python_version()}
    for title, package in _PACKAGES.items():
        try:
            versions[title] = version(package)
        except PackageNotFoundError:
            versions[title] = "not installed"
    versions["SQLite"] = sqlite3.sqlite_version
    examined = []
    for name, path in paths.items():
        # A missing path is writable if it could be created.
        nearest = next((folder for folder in (path, *path.parents) if folder.exists()), path)
        is_writable = os.access(nearest, os.W_OK) and (nearest == path or nearest.is_dir())
        examined.append({"name": name, "path": str(path), "exists": path.exists(), "writable": is_writable})
    return {
        "versions": versions,
        "terminal": examine_terminal(os.environ),
        "places": examined,
        "settings_problem": problem or None,
        "models": [_describe_report(report) for report in inspect_providers(os.environ)],
        "ollama": asdict(probe_server(get_ollama_url(os.environ))),
        "model": None if inspected is None else _describe_report(inspected),
    }


def examine_terminal(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return size and colours of the terminal; without a terminal, no size."""
    size = None
    for stream in (1, 2, 0):
        try:
            size = size or os.get_terminal_size(stream)
        except OSError:
            continue
    term = environ.get("TERM", "")
    if environ.get("NO_COLOR"):
        colours = "no colours (NO_COLOR is set)"
    elif term in ("", "dumb", "unknown"):
        colours = "no colours"
    elif environ.get("COLORTERM", "").lower() in ("truecolor", "24bit") or "direct" in term:
        colours = "16 million colours"
    else:
        colours = "256 colours" if "256" in term else "16 colours"
    return {
        "term": term,
        "columns": size.columns if size else None,
        "lines": size.lines if size else None,
        "colours": colours,
    }


def _describe_report(report: ModelAvailability) -> dict[str, Any]:
    data = asdict(report)
    return {"name": data.pop("name"), "usable": data.pop("is_usable"), **data}


def print_diagnosis(found: Mapping[str, Any], *, as_json: bool = False) -> int:
    """Write the diagnostics on one screen or as JSON; return 1 if the requested model is unusable."""
    requested, terminal, ollama = found["model"], found["terminal"], found["ollama"]
    status = int(requested is not None and not requested["usable"])
    if as_json:
        write_json(found)
        return status
    size = f"{terminal['columns']} x {terminal['lines']}" if terminal["columns"] else "none here"
    lines = [" · ".join(f"{title} {number}" for title, number in found["versions"].items()), ""]
    lines.append(
        f"terminal       {size}, {terminal['colours']}, TERM={sanitise_line(terminal['term']) or 'is not set'}"
    )
    for place in found["places"]:
        state = "writable" if place["writable"] else "NOT WRITABLE"
        state = state if place["exists"] else f"missing, {state}"
        lines.append(f"{place['name']:<14} {sanitise_line(place['path'])} ({state})")
    if found["settings_problem"]:
        lines.append(f"  {sanitise_line(found['settings_problem'])}")
    reason = f"{ollama['address']}: {ollama['problem']}"
    if not ollama["problem"]:
        names = ", ".join(sanitise_line(name) for name in ollama["models"][:_MODELS_SHOWN])
        more = len(ollama["models"]) - _MODELS_SHOWN
        reason = f"{ollama['address']} has {names}{f' and {more} more' if more > 0 else ''}"
    reports = [*found["models"], {"usable": not ollama["problem"], "name": "ollama_chat/MODEL", "reason": reason}]
    lines += ["", *_align(reports)]
    if requested is not None:
        lines += ["", *_align([requested])]
        if requested["provider"] is not None:
            tokens, can_call = requested["window_tokens"], requested["can_call_tools"]
            window = f"window of {tokens:,} tokens" if tokens else "window unknown"
            lines.append(f"  provider {requested['provider']}, {window}, {_TOOL_CALLS[can_call]}")
    write_text("\n".join(lines) + "\n")
    return status


def _align(reports: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [(report["usable"], sanitise_line(report["name"]), sanitise_line(report["reason"])) for report in reports]
    width = min(_NAME_WIDTH_MAX, max(len(name) for _, name, _ in rows))
    return [
        f"{'usable' if is_usable else 'not usable':<14} {shorten(name, 80):<{width}}  {reason}"
        for is_usable, name, reason in rows
    ]
