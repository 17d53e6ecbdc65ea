"""`roamtui doctor`: describes the installation, the places of files, and which models are usable."""

import asyncio
import os
import platform
import sqlite3
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from roamtui import __version__
from roamtui.convert.converted import has_tesseract
from roamtui.convert.formats import FORMATS
from roamtui.errors import UsageError
from roamtui.models.discovery import ModelAvailability, inspect_model, inspect_providers, probe_server
from roamtui.models.local_embedder import MODEL_NAME
from roamtui.models.local_servers import OLLAMA_URL
from roamtui.models.options import ModelOptions
from roamtui.models.search_models import BackgroundLoop, make_embedder
from roamtui.output import write_display
from roamtui.paths import get_cache_path, get_config_path, get_conversations_path
from roamtui.program import qualify_commands
from roamtui.sanitiser import sanitise_line
from roamtui.search.base import RetrievalOptions, SearchMode

_PACKAGES = ("textual", "litellm")


def run_doctor(
    *,
    model: str | None,
    api_base: str | None,
    options: ModelOptions,
    retrieval: RetrievalOptions,
    fault: str,
    notes: Sequence[tuple[str, str]],
) -> int:
    """Inspect this machine and the named model. Return 1 if the model or the settings are unusable, else 0.

    `fault` says what is wrong with the settings, or is empty. `notes` has more lines, each with the
    word that begins it. Nothing is created. Only the named model gets a request, for one token.
    """
    versions = {"roamtui": __version__} | {package: _find_version(package) for package in _PACKAGES}
    versions |= {"Python": platform.python_version(), "SQLite": sqlite3.sqlite_version}
    readers = {each.name: not each.package or bool(_find_version(each.package)) for each in FORMATS}
    readers |= {"scans": has_tesseract()}
    kinds = ", ".join(kind if reader else f"{kind} (missing)" for kind, reader in readers.items())
    places = {
        "settings": get_config_path(),
        "conversations": get_conversations_path(),
        "cache": get_cache_path(),
    }
    ollama = probe_server(os.environ.get("OLLAMA_API_BASE", "").strip() or OLLAMA_URL)
    reason = f"{ollama.url}: {ollama.problem or ', '.join([*ollama.models][:5])}"
    reports = [*inspect_providers()]
    reports.append(ModelAvailability(name="ollama_chat/MODEL", is_usable=not ollama.problem, reason=reason))
    verdict: list[str] = []
    is_usable = True
    if model is not None:
        asked = asyncio.run(inspect_model(model, api_base=api_base, options=options))
        is_usable = asked.is_usable
        resolved = asked.resolved
        verdict.append(_format_report(asked))
        if resolved is not None and (is_usable or not resolved.window_note):
            note = f" ({resolved.window_note})" if resolved.window_note else ""
            size = f"{resolved.window_tokens:,} tokens" if resolved.window_tokens else "unknown size"
            calls = {True: "yes", False: "no", None: "unknown"}[resolved.can_call_tools]
            verdict.append(f"  context window: {size}{note}; tool calls: {calls}")
        if asked.small_reason:
            verdict.append(
                f"  small model: {asked.small_reason}; each question is one request, without tools"
            )
    lines = [
        *verdict,
        " · ".join(f"{name} {number or 'missing'}" for name, number in versions.items()),
        f"{'reads':<14} {kinds}",
        f"{'meaning':<14} {_describe_meaning(retrieval)}",
        *(f"{name:<14} {path}{'' if path.exists() else ' (missing)'}" for name, path in places.items()),
        *([f"{'not usable':<14} {fault}"] if fault else []),
        *(f"{word:<14} {sanitise_line(note)}" for word, note in notes),
        *map(_format_report, reports),
    ]
    write_display(qualify_commands("\n".join(lines)) + "\n")
    return int(bool(fault) or not is_usable)


def _format_report(report: ModelAvailability) -> str:
    return f"{'usable' if report.is_usable else 'not usable':<14} {report.name}: {report.reason}"


def _describe_meaning(options: RetrievalOptions) -> str:
    if options.mode in (SearchMode.OFF, SearchMode.KEYWORD):
        return f"not used, because the mode of search is {options.mode}"
    try:
        embedder = make_embedder(options.embedder, BackgroundLoop())
    except UsageError as error:
        return f"search by meaning cannot be used: {error}"
    if embedder is not None:
        model = MODEL_NAME if embedder.embeds_unasked else embedder.name
        compared = "the meaning of all sections that are embedded so far; `roamtui index` embeds all"
        return f"search compares words, and with {sanitise_line(model)} {compared}"
    return "search compares words only. To search by meaning too, run `pip install 'roamtui[meaning]'`"


def _find_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
