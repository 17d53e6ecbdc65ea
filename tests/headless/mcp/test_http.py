"""`roamtui mcp --http`: on this machine alone, for who shows the token."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from http.client import HTTPConnection

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from tests.headless.mcp.clients import TOKEN, WAIT_SECONDS, ServedHttp, call, list_ids, serve_http
from tests.real_documents import PROJECT_DIR

HANDBOOK = PROJECT_DIR / "examples" / "handbook.md"
GRACE = "Classes A, B, D and F"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedHttp]:
    with serve_http(HANDBOOK, XDG_CONFIG_HOME=str(tmp_path_factory.mktemp("config"))) as served:
        yield served


async def test_each_session_has_its_own_open_sections(served: ServedHttp) -> None:
    async with served.connect("legacy") as first, served.connect("legacy") as second:
        found = list_ids(await call(first, "search_sections", query="grace period", limit=1))
        assert GRACE in await call(first, "expand_sections", section_ids=found)
        assert GRACE in await call(second, "expand_sections", section_ids=found)
        assert "is open already" in await call(first, "expand_sections", section_ids=found)


async def test_a_client_without_a_session_gets_every_text_whole(served: ServedHttp) -> None:
    async with served.connect() as client:
        found = list_ids(await call(client, "search_sections", query="grace period", limit=1))
        for _ in range(2):
            assert GRACE in await call(client, "expand_sections", section_ids=found)


def _post(served: ServedHttp, **headers: str) -> int:
    connection = HTTPConnection("127.0.0.1", served.port, timeout=WAIT_SECONDS)
    try:
        connection.request("POST", "/mcp", body=b"{}", headers={"Content-Type": "application/json", **headers})
        return connection.getresponse().status
    finally:
        connection.close()


def test_strangers_and_pages_of_other_sites_get_nothing(served: ServedHttp) -> None:
    shown = {"Authorization": f"Bearer {TOKEN}"}
    assert _post(served) == 401
    assert _post(served, Authorization=f"Bearer {TOKEN}x") == 401
    assert _post(served, Authorization=TOKEN) == 401
    assert _post(served, Authorization=f"Basic {TOKEN}") == 401
    assert _post(served, **shown, Host=f"attacker.example:{served.port}") == 421
    assert _post(served, **shown, Origin="http://attacker.example") == 403
    assert _post(served, **shown) == _post(served, Authorization=f"bearer {TOKEN}") == 406


def test_a_new_token_is_told_and_ctrl_c_ends_it() -> None:
    with serve_http(HANDBOOK, token="") as served:
        assert served.greeting.startswith("roamtui: The Tallow Street Tool Library Handbook is at http://127.0.0.1:")
        assert served.process.stderr is not None
        told = served.process.stderr.readline().split()
        assert told[-3:-1] == ["Authorization:", "Bearer"]
        assert len(told[-1]) > 30
        assert _post(served, Authorization=f"Bearer {told[-1]}") == 406
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(WAIT_SECONDS) == 0
        assert served.process.stderr.read() == ""
