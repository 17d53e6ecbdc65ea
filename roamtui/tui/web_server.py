"""`roamtui serve`: the app in a browser, only for the person who started it, on this machine."""

import hmac
import os
import re
import secrets
import sys
from collections.abc import Awaitable, Callable, Sequence
from html import escape

from aiohttp import web
from textual_serve.server import Server
from typing_extensions import override

from roamtui.errors import RoamtuiError, format_reason
from roamtui.program import quote_word
from roamtui.sanitiser import sanitise_line

HOST = "127.0.0.1"
_SCRIPT = """
addEventListener("DOMContentLoaded", () => { document.querySelector("#terminal").role = "main"; });
new MutationObserver((_changes, observer) => {
  const keyboard = document.querySelector("#terminal textarea");
  if (keyboard && document.body.classList.contains("-first-byte")) {
    observer.disconnect();
    keyboard.focus();
  }
}).observe(document, {subtree: true, childList: true, attributes: true, attributeFilter: ["class"]});
"""
"""Focuses the terminal. Otherwise, a person would have to click on the page before typing."""
_STYLE = "#terminal .xterm-viewport { overflow-y: hidden; }"
"""Hides a useless scroll bar, a white line next to the last column."""
_FOREIGN_LINK = re.compile(r'<link[^>]*href="https?://[^>]*>')
"""A `<link>` to another host, such as for a font. That host would learn when a page is opened.

`_POLICY` blocks all other requests to other hosts.
"""
_TOKEN_BYTES = 32
_SOCKET_PATH = "/ws"
_OPEN_PATHS = "/static/"
"""Start of the paths that need no token, because they are the same files for everybody."""
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src "
    "'self' data:; font-src 'self' data:; connect-src 'self' ws://127.0.0.1:{port}; "
    "frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
)
"""Content security policy: a page may load only what this server serves."""


def run_web_server(arguments: Sequence[str], *, port: int, title: str) -> None:
    """Serve the app on a loopback port until ctrl+c. Each opened page runs a process with `arguments`.

    The URL that is printed contains a token, because every user and program of this machine can reach the
    port.

    Raises:
        RoamtuiError: The port is taken, or an argument cannot be quoted for the shell.
    """
    try:
        make_web_server(arguments, port=port, title=title).serve()
    except OSError as error:
        reason = format_reason(error)
        raise RoamtuiError(f"cannot listen on port {port}: {reason}. Choose another with --port.") from None


def make_web_server(arguments: Sequence[str], *, port: int, title: str) -> Server:
    """Make the server without starting it."""
    return LoopbackServer(_make_command(*arguments), host=HOST, port=port, title=sanitise_line(title))


class LoopbackServer(Server):
    """A server that accepts only requests from its own pages. Opening a page takes the token."""

    def __init__(self, command: str, *, host: str, port: int, title: str) -> None:
        super().__init__(command, host=host, port=port, title=title)
        self._token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._host = f"{host}:{port}"
        self._origin = f"http://{self._host}"

    @override
    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._filter_request)
        # The page's script adds the window's size as a query, so the token is in the path.
        app.router.add_get(f"{_SOCKET_PATH}/{{token}}", self.handle_websocket)
        return app

    @override
    async def on_startup(self, app: web.Application) -> None:
        """Print nothing yet, because the port is not open."""

    @override
    def serve(self, debug: bool = False) -> None:
        """Serve until ctrl+c. Print the URL once the port is open."""

        def print_url(*_message: object) -> None:
            url = f"{self.public_url}/?token={self._token}"
            sys.stdout.write(f"roamtui: {self.title} is at {url} (ctrl+c to stop).\n")
            sys.stdout.flush()

        web.run_app(self._make_app(), host=self.host, port=self.port, print=print_url, access_log=None)

    @web.middleware
    async def _filter_request(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        self._check_request(request)
        response = await handler(request)
        if request.path == "/" and isinstance(response, web.Response) and response.text is not None:
            response.text = self._rewrite_page(response.text)
        if not response.prepared:  # a socket has sent its headers already
            response.headers["Content-Security-Policy"] = _POLICY.format(port=self.port)
            response.headers["Referrer-Policy"] = "no-referrer"
        return response

    def _check_request(self, request: web.Request) -> None:
        # Browsers let any site open a socket to this machine, and only the origin identifies the site. They
        # always send it with a socket, but not with a page. The host is checked because a site can make its
        # name resolve to this machine.
        is_socket = request.path.startswith(_SOCKET_PATH)
        origin = request.headers.get("Origin", "" if is_socket else self._origin)
        if request.headers.get("Host") != self._host or origin != self._origin:
            raise web.HTTPForbidden(text="Forbidden: only pages served by this server may connect.")
        if request.path.startswith(_OPEN_PATHS):
            return
        given = request.match_info.get("token") or request.query.get("token", "")
        if not hmac.compare_digest(given.encode(errors="replace"), self._token.encode()):
            raise web.HTTPForbidden(text="Forbidden: open the whole URL that `roamtui serve` printed.")

    def _rewrite_page(self, text: str) -> str:
        text = text.replace(f'{_SOCKET_PATH}"', f'{_SOCKET_PATH}/{self._token}"')
        text = text.replace(f'"{self._origin}/', '"/')  # `_FOREIGN_LINK` matches only links with a host
        title_tag = f"<title>{escape(self.title)} · roamtui</title>"
        head = f"<head>{title_tag}<script>{_SCRIPT}</script><style>{_STYLE}</style>"
        return _FOREIGN_LINK.sub("", text).replace("<html>", '<html lang="en">', 1).replace("<head>", head, 1)


def _make_command(*arguments: str) -> str:
    """Quote a command for the system's shell. Refuse what cmd.exe interprets even inside quotation marks."""
    command = [sys.executable, "-m", "roamtui", *arguments]
    for word in command:
        if os.name == "nt" and ('"' in word or "%" in word):
            raise RoamtuiError(
                f'{sanitise_line(word)} cannot be served: its name contains " or %. Rename it.'
            )
    return " ".join(map(quote_word, command))
