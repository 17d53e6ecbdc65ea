"""`roamtui doctor`: the installation, file locations, and which models are usable."""

from __future__ import annotations

import asyncio
import os
import platform
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import roamtui
from roamtui.document.counts import format_count
from roamtui.document.plain import sanitise_line, shorten
from roamtui.headless.output import write_json, write_text
from roamtui.models.options import ModelOptions
from roamtui.models.registry import ModelAvailability, get_ollama_url, inspect_model, inspect_providers, probe_server
from roamtui.paths import cache_path, config_path, conversations_path, conversions_path, pages_path
from roamtui.sources.convert.converted import has_tesseract

_PACKAGES = {"Textual": "textual", "litellm": "litellm"}
_READERS = {
    "PDF": "pypdfium2",
    "HTML, EPUB, ODT": "lxml",
    "DOCX": "mammoth",
    "PPTX": "python-pptx",
    "spreadsheets": "python-calamine",
    "pictures": "pillow",
}
"""The package that reads each kind of file. Markdown, notebooks and subtitles need none."""
_MODELS_SHOWN = 5
_NAME_WIDTH_MAX = 34
_TOOL_CALLS = {
    True: "has tool calls",
    False: "no tool calls: it answers from what comes with each question",
    None: "tool support unknown",
}


def collect_diagnostics(
    settings_problem: str = "",
    model: str | None = None,
    *,
    api_base: str | None = None,
    model_options: ModelOptions | None = None,
) -> dict[str, Any]:
    """Inspect this machine and return JSON values. Nothing is created, and no provider is contacted.

    Args:
        settings_problem: What is wrong with the settings, or empty.
        model: Name of a model to inspect more closely, or None.
        api_base: URL of the model's server, or None for the provider's.
        model_options: Options for the model.
    """
    inspected = None
    if model is not None:
        inspected = asyncio.run(inspect_model(model, api_base=api_base, options=model_options))
    versions = {"roamtui": roamtui.__version__, "Python": platform.python_version()}
    for title, package in _PACKAGES.items():
        versions[title] = _find_version(package) or "not installed"
    readers = {kind: _find_version(package) for kind, package in _READERS.items()}
    versions["SQLite"] = sqlite3.sqlite_version
    places = []
    for name, path in {"settings": config_path(), "conversations": conversations_path(), "cache": cache_path()}.items():
        # A missing path is writable if it could be created.
        nearest = next((folder for folder in (path, *path.parents) if folder.exists()), path)
        is_writable = os.access(nearest, os.W_OK) and (nearest == path or nearest.is_dir())
        places.append({"name": name, "path": str(path), "exists": path.exists(), "writable": is_writable})
    ollama = probe_server(get_ollama_url(os.environ))
    return {
        "versions": versions,
        "readers": {**readers, "scans": "tesseract" if has_tesseract() else ""},
        "places": places,
        "settings_problem": settings_problem or None,
        "models": [_to_json_report(report) for report in inspect_providers(os.environ)],
        "ollama": {"address": ollama.url, "models": ollama.models, "problem": ollama.problem},
        "model": None if inspected is None else _to_json_report(inspected),
    }


def clear_cache() -> str:
    """Delete cached pages and converted files, and return as a sentence what was deleted. What is in use stays."""
    count, size, folders = 0, 0, (pages_path(), conversions_path())
    for path in [path for folder in folders if folder.is_dir() for path in folder.iterdir() if path.is_file()]:
        with suppress(OSError):
            bytes_freed = path.lstat().st_size
            path.unlink()
            count, size = count + 1, size + bytes_freed
    return f"Deleted {format_count(count, 'cached file')}, {size / 1e6:.1f} MB."


def _find_version(package: str) -> str:
    """Return the version of a package, or an empty string if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _to_json_report(report: ModelAvailability) -> dict[str, Any]:
    data = asdict(report)
    return {"name": data.pop("name"), "usable": data.pop("is_usable"), **data}


def print_diagnosis(diagnostics: Mapping[str, Any], *, as_json: bool = False) -> int:
    """Write the diagnostics as text or JSON. Return 1 if a named model is unusable, otherwise 0."""
    requested, ollama = diagnostics["model"], diagnostics["ollama"]
    status = int(requested is not None and not requested["usable"])
    if as_json:
        write_json(diagnostics)
        return status
    lines = [" · ".join(f"{title} {number}" for title, number in diagnostics["versions"].items()), ""]
    readers = diagnostics["readers"]
    installed = "; ".join(f"{kind} ({sanitise_line(detail)})" for kind, detail in readers.items() if detail)
    missing = ", ".join(kind for kind, detail in readers.items() if not detail)
    lines.append(f"readers        {installed}{f'; not installed: {missing}' if missing else ''}")
    for place in diagnostics["places"]:
        state = "writable" if place["writable"] else "NOT WRITABLE"
        state = state if place["exists"] else f"missing, {state}"
        lines.append(f"{place['name']:<14} {sanitise_line(place['path'])} ({state})")
    if diagnostics["settings_problem"]:
        lines.append(f"  {sanitise_line(diagnostics['settings_problem'])}")
    reason = f"{ollama['address']}: {ollama['problem']}"
    if not ollama["problem"]:
        names = ", ".join(sanitise_line(name) for name in ollama["models"][:_MODELS_SHOWN])
        more = len(ollama["models"]) - _MODELS_SHOWN
        reason = f"{ollama['address']} has {names}{f' and {more} more' if more > 0 else ''}"
    reports = [*diagnostics["models"], {"usable": not ollama["problem"], "name": "ollama_chat/MODEL", "reason": reason}]
    lines += ["", *_format_models(reports)]
    if requested is not None:
        lines += ["", *_format_models([requested])]
        if requested["provider"] is not None:
            tokens, can_call = requested["window_tokens"], requested["can_call_tools"]
            window = f"window of {tokens:,} tokens" if tokens else "window unknown"
            lines.append(f"  provider {requested['provider']}, {window}, {_TOOL_CALLS[can_call]}")
    write_text("\n".join(lines) + "\n")
    return status


def _format_models(reports: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [(report["usable"], sanitise_line(report["name"]), sanitise_line(report["reason"])) for report in reports]
    width = min(_NAME_WIDTH_MAX, max(len(name) for _, name, _ in rows))
    return [
        f"{'usable' if is_usable else 'not usable':<14} {shorten(name, 80):<{width}}  {reason}"
        for is_usable, name, reason in rows
    ]
