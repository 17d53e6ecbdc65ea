"""A web server on loopback that sends whatever bytes a test wants, and an internet of names that leads to it."""

import socket
import ssl
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from socketserver import BaseRequestHandler

import httpcore
from typing_extensions import override

from tests.fakes.loopback import LoopbackServer

TLS_DIR = Path(__file__).with_name("tls")
PUBLIC_ADDRESS = "93.184.215.14"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRequest:
    """A client's request."""

    path: str
    headers: dict[str, str]
    """Names in lower case."""


class Client:
    """The client of one connection, as a handler sees it."""

    def __init__(self, server: "HostileServer", sock: socket.socket) -> None:
        self._server = server
        self.sock = sock

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def drip(self, data: bytes, seconds: float) -> None:
        """Send byte by byte, with a pause before each, until the client has had enough."""
        for index in range(len(data)):
            if self._server.closing.wait(seconds):
                return
            self.send(data[index : index + 1])

    def hang(self) -> None:
        self._server.closing.wait()


Handler = Callable[[Client, SeenRequest], bool]
"""Answers a request, and returns whether the connection stays open."""


def answer(body: bytes = b"# Page\n", status: int = 200, headers: Sequence[tuple[str, str]] = ()) -> Handler:
    """Return a handler that sends one whole answer, its length among the headers."""
    names = {name.lower() for name, _ in headers}
    lines = [f"HTTP/1.1 {status} Whatever", *(f"{name}: {value}" for name, value in headers)]
    lines.append(f"Content-Length: {len(body)}")
    if "content-type" not in names:
        lines.append("Content-Type: text/markdown; charset=utf-8")
    data = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body

    def handle(client: Client, _request: SeenRequest) -> bool:
        client.send(data)
        return True

    return handle


def redirect(location: str, status: int = 302) -> Handler:
    return answer(b"", status, [("Location", location)])


def raw(*pieces: bytes) -> Handler:
    """Return a handler that sends these bytes and closes the connection."""
    return stream(b"", pieces)


def stream(head: bytes, pieces: Iterable[bytes]) -> Handler:
    """Return a handler that sends a head, and pieces until the client has had enough."""

    def handle(client: Client, _request: SeenRequest) -> bool:
        client.send(head)
        for piece in pieces:
            client.send(piece)
        return False

    return handle


class HostileServer(LoopbackServer):
    """Answers requests with handlers, others with 404; use as a context manager."""

    def __init__(self, certificate: str | None = None, *, before: Callable[[Client], None] | None = None) -> None:
        """Listen.

        Args:
            certificate: Name of a file with the certificate of the site, None for plain HTTP.
            before: Called with each connection before anything is read from it.
        """
        self.handlers: dict[str, Handler] = {}
        self.requests: list[SeenRequest] = []
        self.before = before
        self.connections = 0
        self.context: ssl.SSLContext | None = None
        if certificate is not None:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(TLS_DIR / certificate)
        super().__init__(_Connection)

    @property
    @override
    def origin(self) -> str:
        return f"{'http' if self.context is None else 'https'}://{self.address}"

    @property
    def paths(self) -> list[str]:
        """Return the requested paths, without robots.txt."""
        return [request.path for request in self.requests if request.path != "/robots.txt"]


class _Connection(BaseRequestHandler):
    fake: HostileServer

    @override
    def handle(self) -> None:
        self.fake.connections += 1
        with suppress(OSError):
            if self.fake.before is not None:
                self.fake.before(Client(self.fake, self.request))
            if self.fake.context is None:
                self._answer_all(self.request)
            else:
                with self.fake.context.wrap_socket(self.request, server_side=True) as safe:
                    self._answer_all(safe)

    def _answer_all(self, sock: socket.socket) -> None:
        client = Client(self.fake, sock)
        rest = b""
        while not self.fake.closing.is_set():
            while b"\r\n\r\n" not in rest:
                data = sock.recv(65536)
                if not data:
                    return
                rest += data
            head, _, rest = rest.partition(b"\r\n\r\n")
            request = _parse(head)
            self.fake.requests.append(request)
            if not self.fake.handlers.get(request.path, answer(b"", 404))(client, request):
                return


def _parse(head: bytes) -> SeenRequest:
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return SeenRequest(path=first.split(" ")[1], headers=headers)


class FakeInternet(httpcore.NetworkBackend):
    """Scripted DNS answers for names, and public addresses that lead to servers on loopback."""

    def __init__(self) -> None:
        self.answers: dict[str, list[list[str]]] = {}
        """Results of the first lookup of each name, the second and so on; the last one repeats."""
        self.servers: dict[tuple[str, int], HostileServer] = {}
        """Servers by public address and port."""
        self.lookups: list[str] = []
        self.dialled: list[tuple[str, int]] = []

    def add(self, name: str, server: HostileServer, *, address: str = PUBLIC_ADDRESS, port: int = 80) -> None:
        """Make a name lead to a server."""
        self.answers[name] = [[address]]
        self.servers[address, port] = server

    def resolve(self, host: str, _port: int) -> list[str]:
        """Return the next DNS answer."""
        self.lookups.append(host)
        answers = self.answers.get(host)
        if not answers:
            raise OSError("No such name.")
        return answers[0] if len(answers) == 1 else answers.pop(0)

    @override
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        self.dialled.append((host, port))
        server = self.servers.get((host, port))
        if server is not None:
            return httpcore.SyncBackend().connect_tcp("127.0.0.1", server.port, timeout)
        if host.startswith("127."):
            return httpcore.SyncBackend().connect_tcp(host, port, timeout)
        raise httpcore.ConnectError(ConnectionRefusedError())
