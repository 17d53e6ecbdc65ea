"""Looks whether an Ollama answers, and which models it holds. Nothing is sent but the wish for that list."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Mapping

OLLAMA_ADDRESS = "http://127.0.0.1:11434"
_ADDRESS_NAME = "OLLAMA_API_BASE"
_PATIENCE_SECONDS = 1.0
_LENGTH_MAX = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaReport:
    """What was found at an address."""

    address: str
    """Without anything secret."""
    models: tuple[str, ...] = ()
    problem: str = ""
    """Why no model can be used, a few words; empty where there are some."""


class _NoRedirects(HTTPRedirectHandler):
    @override
    def redirect_request(self, *args: object, **options: object) -> None:
        """Follow nothing: what answers here must not send the program elsewhere."""


def find_ollama_address(environ: Mapping[str, str]) -> str:
    """Return the address that the person set, else the one that Ollama has by itself."""
    return environ.get(_ADDRESS_NAME, "").strip() or OLLAMA_ADDRESS


def look_up_ollama(address: str, seconds: float = _PATIENCE_SECONDS) -> OllamaReport:
    """Return what is found at `address`, after `seconds` at most."""
    try:
        parts = urlsplit(address)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
    except ValueError:
        return OllamaReport(address="?", problem="its address makes no sense; write it like " + OLLAMA_ADDRESS)
    shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")
    if not is_address or not shown.isprintable():
        return OllamaReport(address="?", problem="its address makes no sense; write it like " + OLLAMA_ADDRESS)
    found: list[OllamaReport] = []
    # A name that is looked up, or a server that drips, knows no limit of time: the thread is left behind then.
    thread = threading.Thread(target=lambda: found.append(_ask(shown, seconds)), daemon=True)
    thread.start()
    thread.join(seconds * 1.5)
    return found[0] if found else OllamaReport(address=shown, problem="it does not answer")


def _ask(address: str, seconds: float) -> OllamaReport:
    opener = build_opener(ProxyHandler({}), _NoRedirects)
    try:
        with opener.open(Request(f"{address}/api/tags"), timeout=seconds) as response:  # noqa: S310 - checked above
            names = tuple(sorted(_read_names(json.loads(response.read(_LENGTH_MAX)))))
    except HTTPError as error:
        error.close()
        return OllamaReport(address=address, problem=f"what answers there is no Ollama ({error.code})")
    except (OSError, HTTPException):
        return OllamaReport(address=address, problem="nothing answers there")
    except (ValueError, KeyError, TypeError, RecursionError):
        return OllamaReport(address=address, problem="what answers there is no Ollama")
    return OllamaReport(address=address, models=names, problem="" if names else "it has no models yet")


def _read_names(data: Any) -> list[str]:  # noqa: ANN401 - whatever a server says
    return [str(model["name"]) for model in data["models"]]
