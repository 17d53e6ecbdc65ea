"""Fetchers with short limits, for servers on loopback and names of a fake internet."""

import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from roamtui.web.fetcher import Fetcher
from roamtui.web.page import FetchOptions
from roamtui.web.urls import AllowedOrigins
from tests.fakes.hostile_server import TLS_DIR, FakeInternet, HostileServer


def make_options(**changes: Any) -> FetchOptions:  # noqa: ANN401 - any field
    return FetchOptions(
        **{"connect_timeout_seconds": 5.0, "read_timeout_seconds": 5.0, "total_seconds_max": 20.0, **changes}
    )


@contextmanager
def open_fetcher(
    cache_dir: Path | None = None,
    internet: FakeInternet | None = None,
    **changes: Any,  # noqa: ANN401 - any field
) -> Iterator[Fetcher]:
    """Yield a fetcher for a fake internet or for loopback."""
    context = ssl.create_default_context(cafile=TLS_DIR / "authority.pem")
    network: dict[str, Any] = {}
    if internet is not None:
        network = {"resolve": internet.resolve, "dial": internet.connect_tcp}
    options = make_options(**changes)
    with closing(Fetcher(cache_dir=cache_dir, options=options, ssl_context=context, **network)) as fetcher:
        yield fetcher


def allow(*servers: HostileServer | str) -> AllowedOrigins:
    """Return the permissions of a person who typed these origins."""
    return AllowedOrigins(typed=frozenset(server if isinstance(server, str) else server.origin for server in servers))


def approve(*origins: str) -> AllowedOrigins:
    """Return the permissions of a person who approved these origins but typed none of them."""
    return AllowedOrigins(approved=frozenset(origins))
