from __future__ import annotations

import pytest

from roamtui.document.document import hash_text
from roamtui.document.parse import parse_document
from roamtui.document.tokens import estimate_tokens


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
