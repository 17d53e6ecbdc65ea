"""Names of hosts into addresses that may be connected to."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

from roamtui.sources.web.address import bare_host
from roamtui.sources.web.failures import AddressRefusedError, FetchError, UnreachableError
from roamtui.sources.web.networks import Reach, find_reach, parse_ip

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from roamtui.sources.web.networks import Address

    Resolve = Callable[[str, int], Sequence[str]]
    """Returns the addresses of a host, or raises OSError."""


def resolve_by_system(host: str, port: int) -> list[str]:
    """Return what the machine's resolver says of a host.

    Raises:
        OSError: It knows none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class AddressBook:
    """Finds the addresses of hosts, and refuses those that a site must not lead to. Thread-safe."""

    def __init__(self, resolve: Resolve = resolve_by_system) -> None:
        self._resolve = resolve
        self._reaches: dict[str, Reach] = {}
        self._lock = threading.Lock()

    def find(self, host: str, port: int, *, allows_local: bool, seconds_max: float) -> tuple[str, ...]:
        """Return the addresses of a host, all of which may be connected to.

        Args:
            host: A name, or an address in its usual notation.
            port: Where to connect to.
            allows_local: Whether a person typed the origin, so that it may be on this machine or network.
            seconds_max: How long to wait for an answer.

        Raises:
            FetchError: The host is unknown, or one of its addresses is refused.
        """
        literal = parse_ip(host)
        if literal is not None:
            if not allows_local and find_reach(literal) is not Reach.PUBLIC:
                raise _refuse(host, literal)
            return (str(literal),)
        found = [parse_ip(text) for text in self._look_up(host, port, seconds_max)]
        addresses = [address for address in found if address is not None]
        if not addresses or len(addresses) < len(found):
            raise FetchError(f"{host} has no address that can be used. Check its spelling.")
        self._check(host, addresses, allows_local=allows_local)
        return tuple(map(str, addresses))

    def _check(self, host: str, addresses: Sequence[Address], *, allows_local: bool) -> None:
        """Refuse addresses that are not public.

        A typed name may be local, but then it is so always: a name that has been public and suddenly leads to this
        machine is an attack on what runs here.
        """
        for address in addresses:
            reach = find_reach(address)
            if not allows_local:
                if reach is not Reach.PUBLIC:
                    raise _refuse(host, address)
                continue
            if reach is Reach.SPECIAL:
                raise AddressRefusedError(f"{host} leads to {address}, where no site can be. Check its spelling.")
            with self._lock:
                expected = self._reaches.setdefault(bare_host(host), reach)
            if reach is not expected:
                raise AddressRefusedError(
                    f"{host} leads to the open internet and to this machine's network by turns ({address}). "
                    "That may be an attack, so it is not fetched."
                )

    def _look_up(self, host: str, port: int, seconds_max: float) -> Sequence[str]:
        """Ask the resolver in a thread of its own, because it cannot be told to give up."""
        answers: list[Sequence[str]] = []

        def ask() -> None:
            try:
                answers.append(self._resolve(host, port))
            except (OSError, UnicodeError):
                answers.append(())

        thread = threading.Thread(target=ask, daemon=True, name="roamtui-lookup")
        thread.start()
        thread.join(seconds_max)
        if not answers:
            raise UnreachableError(f"The address of {host} was not found in time. Check the network, and try again.")
        if not answers[0]:
            raise UnreachableError(f"There is no host {host}, or no network. Check its spelling and the connection.")
        return answers[0]


def _refuse(host: str, address: Address) -> AddressRefusedError:
    shown = str(address)
    return AddressRefusedError(
        f"{host} leads to {shown}, which is no public address. Only an address that you type yourself may do that."
        if shown != host
        else f"{host} is no public address. Only an address that you type yourself may be one."
    )
