from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document import document as module
from roamtui.document.document import hash_path, hash_text, make_ids
from roamtui.document.parse import parse_document
from roamtui.document.tokens import estimate_tokens

if TYPE_CHECKING:
    import pytest
_PATHS = st.lists(st.lists(st.sampled_from(["a", "b", "", "\x1f", "ä"]), min_size=1, max_size=3), max_size=30)


def test_the_content_hash_tells_texts_apart_and_is_stable() -> None:
    first, same, other = (parse_document(text) for text in ("# A\n", "# A\n", "# A\r\n"))
    assert first.content_hash == same.content_hash != other.content_hash
    assert hash_text("") == "cae66941d9efbd404e4d88758ea67670"


def test_a_lone_surrogate_can_be_hashed_and_counted() -> None:
    document = parse_document("# \ud800\n")
    assert len(document.content_hash) == 32
    assert list(document.own_tokens) == [estimate_tokens("# \ud800\n")]


def test_tokens_before_sum_the_own_tokens() -> None:
    document = parse_document("intro\n\n# A\n\nwords\n\n## B\n\nmore words\n")
    own = list(document.own_tokens)
    assert list(document.tokens_before) == [0, own[0], own[0] + own[1], sum(own)]


def test_rows_are_found_by_id() -> None:
    document = parse_document("# A\n# A\n# B\n")
    assert [document.rows_by_id[section_id] for section_id in document.ids] == [0, 1, 2]


def test_a_document_is_a_value_that_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        parse_document("# A").text = "x"  # type: ignore[misc]


def test_an_id_is_the_hash_that_the_contract_names() -> None:
    contract = blake2b(b"guide.md\x1fModels\x1fDropdown\x1f2", digest_size=4).hexdigest()
    assert hash_path("guide.md", ["Models", "Dropdown"], 2) == contract


def test_an_id_below_long_titles_is_that_hash_too() -> None:
    above = ("a" * 5_000, "\ud800", "b" * 700)
    paths = [("a" * 5_000,), above, (*above, "c"), (*above, "c"), (*above, "d"), ("e",)]
    assert make_ids("doc", paths) == [
        hash_path("doc", path, n) for path, n in zip(paths, (0, 0, 0, 1, 0, 0), strict=True)
    ]


def test_known_ids_never_change() -> None:
    assert make_ids("", [("Guide",), ("Guide", "Set up"), ("Guide", "Set up")]) == ["4d91191f", "f4cfb86e", "8c446fcb"]


def test_a_lone_surrogate_in_a_title_has_an_id() -> None:
    assert len(make_ids("", [("\ud800",)])[0]) == 8


@given(_PATHS)
def test_ids_are_unique_and_fit_the_paths(paths: list[list[str]]) -> None:
    made = make_ids("doc", paths)
    assert len(made) == len(paths) == len(set(made))


@given(_PATHS, st.integers(0, 30))
def test_what_stands_later_changes_no_id_before_it(paths: list[list[str]], length: int) -> None:
    assert make_ids("doc", paths[:length]) == make_ids("doc", paths)[:length]


def test_a_salt_changes_every_id() -> None:
    paths = [("a",), ("a",), ("b",)]
    assert not set(make_ids("doc", paths)) & set(make_ids("doc", paths, salt="1"))


def test_the_later_of_two_colliding_paths_is_hashed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def collide(_doc: str, _path: tuple[str, ...], _ordinal: int, *salt: str) -> str:
        return "0000000" + ("0" if not salt else salt[-1])

    monkeypatch.setattr(module, "hash_path", collide)
    assert make_ids("doc", [("a",), ("b",), ("c",)]) == ["00000000", "00000001", "00000002"]
