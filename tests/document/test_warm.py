"""A document that was parsed before opens from the cache, and is the same; a damaged cache is none."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from roamtui.document import warm as module
from roamtui.document.build import open_sources
from roamtui.document.document import Document
from roamtui.document.parse import parse_document
from roamtui.document.text import LongText
from roamtui.document.warm import WarmCache

_TEXT = "".join(f"# Part {n} \N{CROISSANT}\n\nWords of {n}.\n\n## Part\n\n" for n in range(900))
_NAME = "long.md"


@pytest.fixture(autouse=True)
def _small_texts_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LENGTH_MIN", 1_000)


@pytest.fixture
def cache(tmp_path: Path) -> WarmCache:
    return WarmCache(tmp_path / "outlines")


def _parse(text: str = _TEXT) -> Document:
    document = parse_document(text, name=_NAME)
    _ = document.ids, document.own_tokens
    return document


def _keep(cache: WarmCache, text: str = _TEXT) -> None:
    assert cache.write(_parse(text), name=_NAME)


def _file(tmp_path: Path) -> Path:
    return next((tmp_path / "outlines").glob("*.outline"))


def test_what_was_parsed_before_is_the_same_from_the_cache(cache: WarmCache) -> None:
    parsed = parse_document(_TEXT, name=_NAME)
    _keep(cache)
    found = cache.read(_TEXT, name=_NAME)
    assert found is not None
    assert found == parsed
    assert {"ids", "own_tokens", "content_hash"} <= vars(found).keys()
    assert (found.ids, found.own_tokens, found.content_hash) == (parsed.ids, parsed.own_tokens, parsed.content_hash)


def test_another_text_another_name_and_another_kind_of_file_are_not_found(cache: WarmCache) -> None:
    _keep(cache)
    assert cache.read(_TEXT + "\n", name=_NAME) is None
    assert cache.read(_TEXT, name="other.md") is None
    assert cache.read(_TEXT, name=_NAME, is_markdown=False) is None


def test_a_short_text_is_not_kept(cache: WarmCache, tmp_path: Path) -> None:
    assert not cache.write(_parse("# Short\n"), name=_NAME)
    assert not (tmp_path / "outlines").exists()


@pytest.mark.parametrize("place", [0, 20, 200, -1])
def test_a_damaged_file_is_dropped(cache: WarmCache, tmp_path: Path, place: int) -> None:
    _keep(cache)
    data = bytearray(_file(tmp_path).read_bytes())
    data[place] ^= 1
    _file(tmp_path).write_bytes(data)
    assert cache.read(_TEXT, name=_NAME) is None
    assert not list((tmp_path / "outlines").iterdir())


@pytest.mark.parametrize("length", [0, 10, 40, 500])
def test_a_cut_file_is_dropped(cache: WarmCache, tmp_path: Path, length: int) -> None:
    _keep(cache)
    _file(tmp_path).write_bytes(_file(tmp_path).read_bytes()[:length])
    assert cache.read(_TEXT, name=_NAME) is None


def test_the_cache_is_for_its_owner_alone_and_leaves_nothing_half_written(cache: WarmCache, tmp_path: Path) -> None:
    _keep(cache)
    assert stat.S_IMODE(_file(tmp_path).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "outlines").stat().st_mode) == 0o700
    assert len(list((tmp_path / "outlines").iterdir())) == 1


def test_the_least_recently_used_go_first(cache: WarmCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _keep(cache)
    monkeypatch.setattr(module, "BYTES_MAX", int(1.5 * _file(tmp_path).stat().st_size))
    _keep(cache, _TEXT + "more\n")
    assert cache.read(_TEXT + "more\n", name=_NAME) is not None
    assert cache.read(_TEXT, name=_NAME) is None


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "outlines").write_text("a file")
    cache = WarmCache(tmp_path / "outlines")
    assert not cache.write(_parse(), name=_NAME)
    assert cache.read(_TEXT, name=_NAME) is None


def test_a_long_text_comes_back_in_pieces(cache: WarmCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.document.text.LENGTH_MIN", 1_000)
    _keep(cache)
    found = cache.read(_TEXT, name=_NAME)
    assert found is not None
    assert isinstance(found.text, LongText)
    assert str(found.text) == _TEXT


def test_nothing_is_made_only_to_be_kept(cache: WarmCache) -> None:
    assert not cache.write(parse_document(_TEXT, name=_NAME), name=_NAME)


def test_a_file_is_opened_from_the_cache(cache: WarmCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.document.build.LENGTH_MIN", 1_000)
    (tmp_path / _NAME).write_text(_TEXT, "utf-8")
    _keep(cache)
    library, _ = open_sources([str(tmp_path / _NAME)], warm_dir=tmp_path / "outlines")
    assert "ids" in vars(library.root)
    assert library.root == _parse()
    assert "ids" not in vars(open_sources([str(tmp_path / _NAME)])[0].root)
