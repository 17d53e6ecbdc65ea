"""An event loop that waits only so long for a connection: litellm passes that limit on to few providers' clients."""

from __future__ import annotations

import asyncio
import socket
from contextvars import ContextVar
from typing import Any

from typing_extensions import override

connect_seconds: ContextVar[float | None] = ContextVar("connect_seconds", default=None)
"""Patience of the running task for each connection, None for the system's."""
_TIMED_OUT = "nobody took the connection in time"


class LimitedLoop(asyncio.SelectorEventLoop):
    """Gives up connections that nobody takes; names, TLS and replies are not its affair."""

    @override
    async def sock_connect(self, sock: socket.socket, address: Any) -> None:
        """Connect `sock`, within the limit of the running task.

        Raises:
            TimeoutError: The same for all addresses of a host, so that aiohttp passes it on as one.
        """
        limit = asyncio.timeout(connect_seconds.get())
        try:
            async with limit:
                await super().sock_connect(sock, address)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise TimeoutError(_TIMED_OUT) from error


def is_connection_timeout(error: BaseException) -> bool:
    """Return whether an error, or one that it tells of, says that nobody took a connection in time."""
    return _TIMED_OUT in str(error)
