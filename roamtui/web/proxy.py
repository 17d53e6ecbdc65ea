"""Connects through the HTTP proxy that a person configured."""

import base64
from collections.abc import Callable
from urllib.parse import unquote, urlsplit

import httpcore

from roamtui.errors import UsageError
from roamtui.web.addresses import AddressScope, classify_address, parse_ip
from roamtui.web.page import UnreachableError
from roamtui.web.urls import DEFAULT_PORTS

Dial = Callable[[str, int, float], httpcore.NetworkStream]
"""Connects to an IP address and port, within a number of seconds."""


def resolve_proxy(setting: str) -> "Proxy | None":
    """Return the proxy that the setting `web.proxy` names, or None if the setting is empty.

    Raises:
        UsageError: The setting is not the URL of an HTTP proxy.
    """
    try:
        parts = urlsplit(setting)
        is_valid = parts.scheme in DEFAULT_PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if setting and not (is_valid and setting.isascii() and setting.isprintable() and " " not in setting):
        raise UsageError('web.proxy must be the URL of an HTTP proxy, such as "http://proxy.example:3128".')
    return Proxy(setting) if setting else None


class Proxy:
    """Connects to public hosts through a proxy, and directly to addresses of this machine and its network."""

    def __init__(self, url: str) -> None:
        """Use the proxy at a valid `url`."""
        parts = urlsplit(url)
        self._scheme = parts.scheme
        self._host = parts.hostname or ""
        self._port = parts.port or DEFAULT_PORTS[parts.scheme]
        self._headers: list[tuple[bytes, bytes]] = []
        if parts.username is not None:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            self._headers = [(b"Proxy-Authorization", b"Basic " + base64.b64encode(login.encode()))]

    def connect(self, host: str, port: int, timeout: float, dial: Dial) -> httpcore.NetworkStream:
        """Connect to a host or IP address. `dial` connects to the proxy, or to a local address."""
        address = parse_ip(host)
        if address is not None and classify_address(address) is not AddressScope.PUBLIC:
            return dial(host, port, timeout)
        # The message names only the host of the proxy, and no login.
        hint = "Check web.proxy in config.toml."
        try:
            stream = dial(self._host, self._port, timeout)
            if self._scheme == "https":
                stream = stream.start_tls(httpcore.default_ssl_context(), self._host, timeout)
            target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
            origin = httpcore.Origin(self._scheme.encode(), self._host.encode(), self._port)
            request = httpcore.Request(
                "CONNECT",
                httpcore.URL(
                    scheme=origin.scheme, host=origin.host, port=origin.port, target=target.encode()
                ),
                headers=[(b"Host", target.encode()), *self._headers],
                extensions={"timeout": {"read": timeout, "write": timeout}},
            )
            response = httpcore.HTTP11Connection(origin, stream).handle_request(request)
        except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError):
            raise UnreachableError(f"The proxy {self._host} cannot be reached. {hint}") from None
        if response.status // 100 != 2:
            stream.close()
            raise UnreachableError(
                f"The proxy {self._host} refuses to connect to {host}: {response.status}. {hint}"
            )
        tunnel: httpcore.NetworkStream = response.extensions["network_stream"]
        return tunnel
