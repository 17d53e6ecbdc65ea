"""Makes the HTTP clients of this process refuse redirects.

A redirected request would take the key and the text of documents to a server that the person did not choose.

litellm has no settings for this, and opens connections through several libraries. In each of them, one public
method or hook is reached before a redirect is followed.
"""

import importlib
from contextlib import suppress
from typing import Any
from urllib.parse import urljoin


class RedirectRefusedError(Exception):
    """A server redirected a request, which was not followed."""

    def __init__(self, url: str, location: str) -> None:
        self.target = urljoin(url, location)
        """URL to which the server redirected it."""
        super().__init__(self.target)


def restrict_clients() -> None:
    """Make httpx, requests and aiohttp raise `RedirectRefusedError`."""
    clients: list[Any] = [importlib.import_module("httpx")]
    with suppress(ModuleNotFoundError):  # openai and litellm use it, if it is installed
        clients.append(importlib.import_module("httpx2"))
    for client in clients:
        _refuse_in_httpx(client)
    _refuse_in_requests(importlib.import_module("requests"))
    _refuse_in_aiohttp(importlib.import_module("aiohttp"))


def _refuse_in_httpx(httpx: Any) -> None:  # noqa: ANN401
    has_location = httpx.Response.has_redirect_location.fget

    def has_redirect_location(response: Any) -> bool:  # noqa: ANN401
        if has_location(response):
            raise RedirectRefusedError(str(response.request.url), response.headers["location"])
        return False

    httpx.Response.has_redirect_location = property(has_redirect_location)


def _refuse_in_requests(requests: Any) -> None:  # noqa: ANN401
    get_target = requests.Session.get_redirect_target

    def get_redirect_target(session: Any, response: Any) -> None:  # noqa: ANN401
        location = get_target(session, response)
        if location is not None:
            raise RedirectRefusedError(response.url, location)

    requests.Session.get_redirect_target = get_redirect_target


def _refuse_in_aiohttp(aiohttp: Any) -> None:  # noqa: ANN401
    initialise = aiohttp.ClientSession.__init__

    async def refuse(_session: Any, _context: Any, redirect: Any) -> None:  # noqa: ANN401
        response = redirect.response
        location = response.headers.get("Location") or response.headers.get("URI") or ""
        raise RedirectRefusedError(str(redirect.url), location)

    def initialise_refusing(session: Any, *arguments: Any, **options: Any) -> None:  # noqa: ANN401
        tracing = aiohttp.TraceConfig()
        tracing.on_request_redirect.append(refuse)
        options["trace_configs"] = [*(options.get("trace_configs") or ()), tracing]
        initialise(session, *arguments, **options)

    aiohttp.ClientSession.__init__ = initialise_refusing
