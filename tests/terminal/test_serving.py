"""`roamtui serve`: the app in a browser, for this machine alone."""

from __future__ import annotations

import base64
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

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

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str, **headers: str) -> HTTPResponse:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=120)) as connection:
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            response.read()
            return response

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
    assert served.greeting == f"roamtui: handbook.md is at {served.address} (ctrl+c to stop).\n"
    response = served.get("/")
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
    for path in ("/", "/ws", "/static/js/textual.js"):
        assert [served.get(path, **headers).status for headers in strange] == [403] * len(strange)
    assert served.get("/static/js/textual.js", Origin=served.address).status == 200


def test_a_port_in_use_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [*PROGRAM, "serve", str(HANDBOOK), "--port", str(port)]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
    assert result.returncode == 1
    assert result.stderr.startswith(f"roamtui: cannot listen on port {port}: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")
def test_the_first_screen_shows_in_a_browser(serve: Serve, tmp_path: Path) -> None:
    served = serve(HANDBOOK)
    browser = Chromium(find_chromium() or "", tmp_path / "browser")
    try:
        browser.call("Network.enable")
        browser.call("Emulation.setFocusEmulationEnabled", enabled=True)
        browser.call("Page.navigate", url=served.address)
        shown = b""
        while TITLE not in shown or b"offline" not in shown:
            frame = browser.wait_for(lambda message: message.get("method") == "Network.webSocketFrameReceived")
            response = frame["params"]["response"]
            shown += base64.b64decode(response["payloadData"]) if response["opcode"] == 2 else b""
        script = """new Promise(done => { const look = () => {
            const terminal = document.querySelector("#terminal");
            const is_shown = document.body.classList.contains("-first-byte");
            is_shown && terminal.querySelector("canvas, .xterm-rows") ? done(terminal.clientWidth)
                : requestAnimationFrame(look); }; look(); })"""
        width = browser.call("Runtime.evaluate", expression=script, awaitPromise=True)["result"]["value"]
        assert width > 800
        named = browser.call("Runtime.evaluate", expression="document.title")["result"]["value"]
        assert named == "handbook.md · roamtui"
        has_keyboard = """new Promise(done => { const look = () =>
            document.activeElement.closest("#terminal") ? done(true) : requestAnimationFrame(look); look(); })"""
        assert browser.call("Runtime.evaluate", expression=has_keyboard, awaitPromise=True)["result"]["value"]
        asked = [url for url in browser.requested if not url.startswith(("data:", "blob:"))]
        assert f"{served.address}/static/js/textual.js" in asked
        assert [url for url in asked if not url.startswith(f"{served.address}/")] == []
    finally:
        browser.close()
