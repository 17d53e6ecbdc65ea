"""Serves over stdio or HTTP until the client leaves or the person presses ctrl+c."""

from __future__ import annotations

import asyncio
import hmac
import importlib.util
import logging
import os
import secrets
import signal
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

from roamtui.document.plain import plain_line
from roamtui.errors import RoamtuiError
from roamtui.headless.mcp.server import make_server
from roamtui.headless.mcp.shared_library import SharedLibrary
from roamtui.headless.output import write_note

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

HOST = "127.0.0.1"
PATH = "/mcp"
TOKEN_VARIABLE = "ROAMTUI_MCP_TOKEN"  # noqa: S105 - the name of a variable
_MISSING = "`roamtui mcp` needs the extra: pip install 'roamtui[mcp]'"
_TOKEN_LENGTH_MIN = 16
_CLOSING_SECONDS = 1
"""For streams that clients hold open when the server ends."""


def check_extra() -> None:
    """Make sure that the SDK is there, and keep it from writing to stderr.

    Raises:
        RoamtuiError: The extra is not installed.
    """
    if importlib.util.find_spec("mcp") is None:
        raise RoamtuiError(_MISSING)
    if not os.environ.get("ROAMTUI_DEBUG"):
        logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)


def serve_stdio(shared: SharedLibrary) -> None:
    """Serve the one client at stdin and stdout until it leaves. Nothing else is written to stdout.

    ctrl+c ends the process on the spot: a thread waits for the client's next line, and nothing is left to be saved.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        asyncio.run(_serve_stdio(shared))
    except* BrokenPipeError:
        pass  # the client is gone


async def _serve_stdio(shared: SharedLibrary) -> None:
    from mcp.server.stdio import stdio_server  # noqa: PLC0415 - an extra

    server = make_server(shared)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def read_token() -> str:
    """Return the token that clients must show: the person's own from the environment, else a new one.

    Raises:
        RoamtuiError: The person's own is easily guessed.
    """
    token = os.environ.get(TOKEN_VARIABLE, "")
    if token and (len(token) < _TOKEN_LENGTH_MIN or not token.isascii() or not token.isprintable()):
        raise RoamtuiError(f"{TOKEN_VARIABLE} must have at least {_TOKEN_LENGTH_MIN} plain characters.")
    return token or secrets.token_urlsafe(32)


def serve_http(shared: SharedLibrary, *, port: int, title: str) -> None:
    """Serve any number of clients on the loopback address until ctrl+c.

    Args:
        shared: What they share.
        port: On the loopback address.
        title: Of the library, for the greeting.

    Raises:
        RoamtuiError: The port is taken.
    """
    import uvicorn  # noqa: PLC0415 - an extra
    from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415 - an extra

    token = read_token()
    listener = _listen(port)
    names = [f"{HOST}:{port}", f"localhost:{port}"]
    security = TransportSecuritySettings(allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names])
    app = make_server(shared).streamable_http_app(streamable_http_path=PATH, transport_security=security)
    config = uvicorn.Config(
        TokenGuard(app, token),
        log_config=None,
        log_level=logging.CRITICAL,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_CLOSING_SECONDS,
    )
    write_note(f"roamtui: {plain_line(title)} is at http://{HOST}:{port}{PATH} (ctrl+c ends it).")
    if not os.environ.get(TOKEN_VARIABLE):
        write_note(f"roamtui: clients must send the header  Authorization: Bearer {token}")
    with listener, suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])


def _listen(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(os.name == "posix"))
    try:
        listener.bind((HOST, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise RoamtuiError(f"port {port} cannot be used: {error.strerror}. Choose another with --port.") from None
    return listener


class TokenGuard:
    """Answers nothing to a request that does not show the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        """Stand before `app`."""
        self._app = app
        self._wanted = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan" or self._is_allowed(scope):
            await self._app(scope, receive, send)
            return
        from starlette.responses import PlainTextResponse  # noqa: PLC0415 - an extra

        refusal = PlainTextResponse(
            "Send the token of this server: Authorization: Bearer TOKEN\n",
            status_code=401,
            headers={"WWW-Authenticate": "Bearer"},
        )
        await refusal(scope, receive, send)

    def _is_allowed(self, scope: Scope) -> bool:
        shown = [value for name, value in scope.get("headers", ()) if name == b"authorization"]
        if scope["type"] != "http" or len(shown) != 1:
            return False
        scheme, _, token = shown[0].partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._wanted)
