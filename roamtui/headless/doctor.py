"""`roamtui doctor`: the installation, file locations, and which models are usable."""

from __future__ import annotations

import asyncio
import os
import platform
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from msgspec.structs import asdict

import roamtui
from roamtui.document.counts import format_count
from roamtui.headless.output import write_json, write_notice, write_sanitised
from roamtui.models.options import ModelOptions
from roamtui.models.registry import ModelAvailability, get_ollama_url, inspect_model, inspect_providers, probe_server
from roamtui.paths import cache_path, config_path, conversations_path, conversions_path, pages_path
from roamtui.sources.convert.converted import has_tesseract

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
_TOOL_CALLS = {
    True: "has tool calls",
    False: "no tool calls: it answers from what comes with each question",
    None: "tool support unknown",
}


def collect_diagnostics(
    model: str | None = None, api_base: str | None = None, model_options: ModelOptions | None = None
) -> dict[str, Any]:
    """Inspect this machine, and a model if one is named, and return JSON values.

    Nothing is created, and no provider is contacted.
    """
    inspection = inspect_model(model, api_base=api_base, options=model_options) if model is not None else None
    ollama = probe_server(get_ollama_url(os.environ))
    places = []
    for name, path in {"settings": config_path(), "conversations": conversations_path(), "cache": cache_path()}.items():
        # A missing path is writable if it could be created.
        nearest = next((folder for folder in (path, *path.parents) if folder.exists()), path)
        is_writable = os.access(nearest, os.W_OK) and (nearest == path or nearest.is_dir())
        places.append({"name": name, "path": str(path), "exists": path.exists(), "writable": is_writable})
    return {
        "versions": {
            "roamtui": roamtui.__version__,
            "Python": platform.python_version(),
            "Textual": _find_version("textual"),
            "litellm": _find_version("litellm"),
            "SQLite": sqlite3.sqlite_version,
        },
        "readers": {
            **{kind: _find_version(package) for kind, package in _READERS.items()},
            "scans": "tesseract" if has_tesseract() else "",
        },
        "places": places,
        "models": [_to_json_report(report) for report in inspect_providers(os.environ)],
        "ollama": {"address": ollama.url, "models": ollama.models, "problem": ollama.problem},
        "model": _to_json_report(asyncio.run(inspection)) if inspection is not None else None,
    }


def clear_cache() -> None:
    """Delete cached pages and converted files, and say what was deleted. What is in use stays."""
    sizes, folders = list[int](), (pages_path(), conversions_path())
    for path in [path for folder in folders if folder.is_dir() for path in folder.iterdir() if path.is_file()]:
        with suppress(OSError):
            size = path.lstat().st_size
            path.unlink()
            sizes.append(size)
    write_notice(f"Deleted {format_count(len(sizes), 'cached file')}, {sum(sizes) / 1e6:.1f} MB.")


def _find_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _to_json_report(report: ModelAvailability) -> dict[str, Any]:
    data = asdict(report)
    return {"name": data.pop("name"), "usable": data.pop("is_usable"), **data}


def print_diagnosis(diagnostics: Mapping[str, Any], *, as_json: bool = False) -> int:
    """Write the diagnostics as text or JSON. Return 1 if a named model is unusable, otherwise 0."""
    requested = diagnostics["model"]
    if as_json:
        write_json(diagnostics)
    else:
        write_sanitised("\n".join(_format_diagnosis(diagnostics)) + "\n")
    return int(requested is not None and not requested["usable"])


def _format_diagnosis(diagnostics: Mapping[str, Any]) -> Iterator[str]:
    requested, ollama, readers = diagnostics["model"], diagnostics["ollama"], diagnostics["readers"]
    yield " · ".join(f"{title} {number or 'missing'}" for title, number in diagnostics["versions"].items())
    yield f"reads          {'; '.join(kind for kind, detail in readers.items() if detail)}"
    if missing := "; ".join(kind for kind, detail in readers.items() if not detail):
        yield f"cannot read    {missing}"
    for place in diagnostics["places"]:
        state = f"{'' if place['exists'] else 'missing, '}{'writable' if place['writable'] else 'NOT WRITABLE'}"
        yield f"{place['name']:<14} {place['path']} ({state})"
    reason = ollama["problem"] or ", ".join(ollama["models"][:_MODELS_SHOWN])
    server = {"usable": not ollama["problem"], "name": "ollama_chat/MODEL", "reason": f"{ollama['address']}: {reason}"}
    for report in filter(None, [*diagnostics["models"], server, requested]):
        yield f"{'usable' if report['usable'] else 'not usable':<14} {report['name']}: {report['reason']}"
    if requested is not None and requested["provider"] is not None:
        tokens, can_call = requested["window_tokens"], requested["can_call_tools"]
        window = f"window of {tokens:,} tokens" if tokens else "window unknown"
        yield f"  provider {requested['provider']}, {window}, {_TOOL_CALLS[can_call]}"
