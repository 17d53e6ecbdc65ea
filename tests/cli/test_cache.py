"""`roamtui cache`."""

from __future__ import annotations

from roamtui.paths import conversions_path, indexes_path, pages_path
from roamtui.sources.web.page import FetchOptions
from tests.cli.conftest import RunCommand
from tests.fakes.hostile_server import HostileServer, answer
from tests.sources.web.fetching import allow, open_fetcher


def _fetch_one() -> None:
    with HostileServer() as server, open_fetcher(pages_path()) as fetcher:
        server.handlers["/a"] = answer(b"words" * 1000)
        fetcher.fetch(f"{server.origin}/a", allow(server))


def test_it_says_how_much_is_kept(run: RunCommand) -> None:
    assert run("cache").out == f"0 pages, 0 bytes of at most 500.0 MB in {pages_path()}\n"
    assert not pages_path().exists()
    _fetch_one()
    result = run("cache", "show")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("1 page, 5.")
    shown = run("cache", "--json").json
    assert (shown["pages"], shown["bytes_max"]) == (1, FetchOptions().cache_bytes_max)
    assert shown["bytes"] > 5000


def test_it_drops_all_pages(run: RunCommand) -> None:
    _fetch_one()
    result = run("cache", "clear")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Deleted 1 page, 5.")
    assert run("cache", "clear", "--json").json["dropped_pages"] == 0
    assert not list(pages_path().iterdir())


def test_it_drops_what_can_be_made_again_and_says_what_it_leaves(run: RunCommand) -> None:
    for folder in (conversions_path(), indexes_path()):
        folder.mkdir(parents=True)
        (folder / "one").write_bytes(bytes(700))
        (folder / ".one.half-written").write_bytes(b"")
    shown = run("cache").out.splitlines()[1:]
    assert shown[0] == f"2 converted files, 700 bytes in {conversions_path()}"
    assert run("cache", "--json").json["indexes"] == {"folder": str(indexes_path()), "files": 2, "bytes": 700}
    cleared = run("cache", "clear").out.splitlines()
    assert f"Deleted 2 converted files, 700 bytes from {conversions_path()}" in cleared
    assert cleared[-1].startswith(f"Left 2 files of search indexes, 700 bytes in {indexes_path()}: `roamtui index ")
    assert [len(list(folder.iterdir())) for folder in (conversions_path(), indexes_path())] == [0, 2]
    again = run("cache", "clear", "--json").json
    assert (again["converted"]["files"], again["left"]["indexes"]["files"]) == (0, 2)
