"""Vectors are kept between runs, by text and model, whatever happens to the file."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from roamtui.search.vector_store import VectorStore, digest_text

ONE, TWO = digest_text("one"), digest_text("two")


def _keep(folder: Path, model: str, *digests: bytes) -> None:
    store = VectorStore(folder)
    store.save({digest: b"vector of " + digest for digest in digests}, model)
    store.close()


def test_what_is_kept_is_found_by_the_next_run(tmp_path: Path) -> None:
    _keep(tmp_path / "cache", "m", ONE)
    store = VectorStore(tmp_path / "cache")
    assert store.load([ONE, TWO], "m") == {ONE: b"vector of " + ONE}
    assert store.load([ONE], "other") == {}
    assert store.problem == ""
    store.close()


def test_more_digests_than_sqlite_takes_at_once_are_found(tmp_path: Path) -> None:
    digests = [digest_text(str(number)) for number in range(1_700)]
    _keep(tmp_path, "m", *digests)
    store = VectorStore(tmp_path)
    assert len(store.load(digests, "m")) == 1_700
    assert store.find_other_model(digests, "n") == "m"
    store.close()


def test_another_model_of_the_same_text_is_told(tmp_path: Path) -> None:
    _keep(tmp_path, "old", ONE)
    store = VectorStore(tmp_path)
    assert store.find_other_model([ONE, TWO], "new") == "old"
    assert store.find_other_model([ONE], "old") is None
    assert store.find_other_model([TWO], "new") is None
    store.close()


def test_a_damaged_file_is_made_anew_and_told(tmp_path: Path) -> None:
    (tmp_path / "vectors.sqlite3").write_bytes(b"no database at all " * 100)
    store = VectorStore(tmp_path)
    assert "damaged" in store.problem
    store.save({ONE: b"x"}, "m")
    store.close()
    assert VectorStore(tmp_path).load([ONE], "m") == {ONE: b"x"}


def test_a_file_with_another_table_is_made_anew(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "vectors.sqlite3")
    connection.execute("CREATE TABLE vectors(something TEXT)")
    connection.close()
    store = VectorStore(tmp_path)
    store.save({ONE: b"x"}, "m")
    assert store.load([ONE], "m") == {ONE: b"x"}
    store.close()


def test_where_nothing_can_be_kept_it_is_told_and_vectors_live_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", "utf-8")
    store = VectorStore(tmp_path / "file")
    assert "cannot be kept" in store.problem
    store.save({ONE: b"x"}, "m")
    assert store.load([ONE], "m") == {ONE: b"x"}
    store.close()
