"""`roamtui serve`: the app in a browser, for this machine alone."""

from __future__ import annotations

import os
import re
import shlex
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from html import escape
from typing import TYPE_CHECKING

from typing_extensions import override

from roamtui.document.plain import sanitise_line
from roamtui.errors import RoamtuiError

if TYPE_CHECKING:
    from aiohttp import web
    from textual_serve.server import Server

HOST = "127.0.0.1"
_FOCUS_SCRIPT = """
new MutationObserver((_changes, observer) => {
  const keyboard = document.querySelector("#terminal textarea");
  if (keyboard && document.body.classList.contains("-first-byte")) {
    observer.disconnect();
    keyboard.focus();
  }
}).observe(document, {subtree: true, childList: true, attributes: true, attributeFilter: ["class"]});
"""
"""Without it a person must click on the page before they can type."""
_FOREIGN_LINK = re.compile(r'<link[^>]*href="https?://[^>]*>')
"""A font of another host, which would be told of each page that is opened; the policy below holds up what is left."""
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self' ws://127.0.0.1:{port} ws://localhost:{port}; "
    "frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
)
"""What a page may load: nothing that is not served here."""
_LAST_BACKSLASHES = re.compile(r"\\+\Z")
_MISSING = "`roamtui serve` needs the extra: pip install 'roamtui[serve]'"


def run_server(arguments: Sequence[str], *, port: int, title: str) -> None:
    """Serve the app until ctrl+c; every page that is opened is a program of its own.

    Args:
        arguments: What the program is started with for each page.
        port: On the loopback address.
        title: Of the page while it loads.

    Raises:
        RoamtuiError: The extra is not installed, or the port is taken.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(os.name == "posix"))
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise RoamtuiError(f"port {port} cannot be used: {error.strerror}. Choose another with --port.") from None
    make_web_server(arguments, port=port, title=title).serve()


def make_web_server(arguments: Sequence[str], *, port: int, title: str) -> Server:
    """Return the server, not started yet.

    Raises:
        RoamtuiError: The extra is not installed.
    """
    try:
        from aiohttp import web  # noqa: PLC0415 - an extra
        from textual_serve.server import Server  # noqa: PLC0415 - an extra
    except ImportError:
        raise RoamtuiError(_MISSING) from None

    hosts = (f"{HOST}:{port}", f"localhost:{port}")
    # How the page is called, and that keys go to it from the start.
    head = f"<head><title>{escape(sanitise_line(title))} · roamtui</title><script>{_FOCUS_SCRIPT}</script>"

    @web.middleware
    async def guard(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        # A browser lets any site open a socket to this machine; only the origin tells them apart. The host is checked
        # because a site's name can be made to lead here.
        origin = request.headers.get("Origin", f"http://{HOST}:{port}")
        if request.headers.get("Host") not in hosts or origin not in [f"http://{name}" for name in hosts]:
            raise web.HTTPForbidden(text="This address is for pages of this server alone.")
        response = await handler(request)
        if request.path == "/" and isinstance(response, web.Response) and response.text is not None:
            response.text = _FOREIGN_LINK.sub("", response.text).replace("<head>", head, 1)
        return response

    async def seal(_request: web.Request, response: web.StreamResponse) -> None:
        response.headers["Content-Security-Policy"] = _POLICY.format(port=port)
        response.headers["Referrer-Policy"] = "no-referrer"

    class LoopbackServer(Server):
        """Serves pages to this machine's own browser, and to no page of another site that runs in it."""

        @override
        async def _make_app(self) -> web.Application:
            app = await super()._make_app()
            app.middlewares.append(guard)
            app.on_response_prepare.append(seal)
            return app

        @override
        async def on_startup(self, app: web.Application) -> None:
            """Say nothing yet: nobody listens before the port is open."""

        @override
        def serve(self, debug: bool = False) -> None:
            """Serve until ctrl+c, and say where once the port is open."""

            def greet(*_what: object) -> None:
                sys.stdout.write(f"roamtui: {sanitise_line(title)} is at {self.public_url} (ctrl+c ends it).\n")
                sys.stdout.flush()

            web.run_app(self._make_app(), host=self.host, port=self.port, print=greet, access_log=None)

    command = [sys.executable, "-m", "roamtui", *arguments]
    return LoopbackServer(_quote(command), host=HOST, port=port, title=sanitise_line(title))


def _quote(command: Sequence[str]) -> str:
    """Return a line of which the system's shell makes these words again.

    Raises:
        RoamtuiError: A word holds one of the two signs that cmd.exe reads inside quotation marks too.
    """
    if os.name != "nt":
        return shlex.join(command)
    for word in command:
        if '"' in word or "%" in word:
            raise RoamtuiError(f'{sanitise_line(word)} cannot be served: it holds " or %. Rename it.')
    # A backslash before the closing mark would take its meaning from it.
    return " ".join(f'"{_LAST_BACKSLASHES.sub(lambda last: last[0] * 2, word)}"' for word in command)
