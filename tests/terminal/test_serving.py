"""`roamtui serve`: the app in a browser, only for the person who started it."""

import base64
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.fakes.chromium import Chromium, find_chromium

pytest.importorskip("textual_serve", reason="the extra `serve` is not installed")

HANDBOOK = Path(__file__).parents[2] / "examples" / "handbook.md"
TITLE = b"The Tallow Street Tool Library Handbook"
PROGRAM = [sys.executable, "-W", "ignore", "-m", "roamtui"]


def find_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Served:
    """The program while it serves."""

    def __init__(self, document: Path) -> None:
        self.port = find_port()
        command = [*PROGRAM, "serve", str(document), "--port", str(self.port)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.greeting = self._process.stdout.readline()
        self.token = self.greeting.rpartition("?token=")[2].partition(" ")[0]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.address}/?token={self.token}"

    def get(self, path: str, **headers: str) -> HTTPResponse:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=120)) as connection:
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            response.read()
            return response

    def open_socket(self, path: str, origin: str | None) -> int:
        """Return the status of the reply to a request for a socket, which is 101 if it opens."""
        headers = {
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version": "13",
        }
        return self.get(path, **(headers if origin is None else {**headers, "Origin": origin})).status

    def interrupt(self) -> tuple[int, str]:
        """Press ctrl+c; return the exit status and what was written to stderr."""
        self._process.send_signal(signal.SIGINT)
        _, errors = self._process.communicate(timeout=120)
        return self._process.returncode, errors

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()


Serve = Callable[[Path], Served]


@pytest.fixture
def serve() -> Iterator[Serve]:
    started: list[Served] = []

    def start(document: Path) -> Served:
        started.append(Served(document))
        return started[-1]

    yield start
    for served in started:
        served.close()


def test_the_page_is_served_on_loopback_until_ctrl_c(serve: Serve) -> None:
    served = serve(HANDBOOK)
    assert served.greeting == f"roamtui: handbook.md is at {served.url} (ctrl+c to stop).\n"
    assert len(served.token) >= 32
    response = served.get(f"/?token={served.token}")
    assert response.status == 200
    assert "'self'" in (response.getheader("Content-Security-Policy") or "")
    with socket.socket() as other:
        other.settimeout(5)
        assert other.connect_ex(("127.0.0.2", served.port)) != 0
    assert served.interrupt() == (0, "")


def test_pages_of_other_sites_get_nothing(serve: Serve) -> None:
    served = serve(HANDBOOK)
    strange: list[dict[str, str]] = [
        {"Host": "attacker.example"},
        {"Host": "127.0.0.1"},
        {"Origin": "http://attacker.example"},
        {"Origin": f"https://127.0.0.1:{served.port}"},
        {"Origin": "null"},
    ]
    query = f"?token={served.token}"
    for path in (f"/{query}", f"/ws/{served.token}", f"/ws{query}", "/static/js/textual.js"):
        assert [served.get(path, **headers).status for headers in strange] == [403] * len(strange)
    assert served.get("/static/js/textual.js", Origin=served.address).status == 200


def test_only_who_has_the_whole_url_gets_the_app(serve: Serve) -> None:
    first, second = serve(HANDBOOK), serve(HANDBOOK)
    assert first.token != second.token
    for wrong in ("", second.token, first.token[:-1], f"{first.token}a", "é", "\0"):
        assert first.get(f"/?token={quote(wrong)}").status == 403
        assert first.get(f"/download/a?token={quote(wrong)}").status == 403
        assert first.open_socket(f"/ws?token={quote(wrong)}", first.address) == 403
        assert first.open_socket(f"/ws/{quote(wrong)}", first.address) in (403, 404)
    assert first.open_socket("/ws", first.address) == 403
    assert first.get("/").status == 403
    right = f"/ws/{first.token}"
    for origin in (None, "null", "http://attacker.example", second.address, f"https://127.0.0.1:{first.port}"):
        assert first.open_socket(right, origin) == 403
    assert first.open_socket(right, first.address) == 101


def test_a_port_in_use_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [*PROGRAM, "serve", str(HANDBOOK), "--port", str(port)]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
    assert result.returncode == 1
    assert result.stderr.startswith(f"roamtui: cannot listen on port {port}: ")
    assert result.stderr.count("\n") == 1


@contextmanager
def browsing(url: str, folder: Path) -> Iterator[Chromium]:
    """Open a page of the app in a browser, and wait for its first screen."""
    browser = Chromium(find_chromium() or "", folder / "browser")
    try:
        browser.call("Network.enable")
        browser.call("Emulation.setFocusEmulationEnabled", enabled=True)
        browser.call("Page.navigate", url=url)
        wait_for_words(browser, TITLE, b"offline")
        assert evaluate(browser, HAS_SCREEN)
        yield browser
    finally:
        browser.close()


def evaluate(browser: Chromium, script: str) -> Any:  # noqa: ANN401 - any value of JSON
    answer = browser.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
    return answer["result"]["value"]


def wait_for_words(browser: Chromium, *words: bytes) -> None:
    """Wait until the app has written these words to the page."""
    shown = b""
    while any(word not in shown for word in words):
        frame = browser.wait_for(lambda message: message.get("method") == "Network.webSocketFrameReceived")
        response = frame["params"]["response"]
        shown += base64.b64decode(response["payloadData"]) if response["opcode"] == 2 else b""


HAS_SCREEN = """new Promise(done => { const look = () => {
    const is_shown = document.body.classList.contains("-first-byte");
    is_shown && document.querySelector("#terminal canvas, #terminal .xterm-rows") ? done(true)
        : requestAnimationFrame(look); }; look(); })"""
HAS_KEYBOARD = """new Promise(done => { const look = () =>
    document.activeElement.closest("#terminal") ? done(true) : requestAnimationFrame(look); look(); })"""


@pytest.mark.slow
@pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")
def test_the_first_screen_is_drawn_in_a_browser_and_has_the_keyboard(serve: Serve, tmp_path: Path) -> None:
    served = serve(HANDBOOK)
    with browsing(served.url, tmp_path) as browser:
        assert evaluate(browser, "document.title") == "handbook.md · roamtui"
        assert evaluate(browser, "document.documentElement.lang") == "en"
        assert evaluate(browser, HAS_KEYBOARD)
        asked = [url for url in browser.requested if not url.startswith(("data:", "blob:"))]
        assert {f"{served.address}/static/js/textual.js", f"{served.address}/static/css/xterm.css"} <= set(asked)
        assert [url for url in asked if not url.startswith(f"{served.address}/")] == []
