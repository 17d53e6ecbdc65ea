"""The estimate of tokens beside what a real tokenizer, cl100k, counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.tokens import estimate_tokens, format_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("def read(path: Path) -> str:\n    with path.open() as stream:\n        return stream.read().strip()\n", 24),
        ("- `roamtui index FOLDER --summaries`: 1,024 chunks, 12.5 % of them new (see [Search](search.md))\n", 34),
        ("Die Nachtschicht beginnt um zehn. Wer den Ofen schließt, trägt die Temperatur in das Buch ein.\n", 30),
        ("本手册介绍如何安装服务、检查状态以及在出现故障时联系谁。请先阅读第一章,然后按照步骤操作。", 49),
    ],
    ids=["code", "Markdown", "German", "Chinese"],
)
def test_the_estimate_is_near_the_count_of_a_tokenizer(text: str, tokens: int) -> None:
    assert abs(estimate_tokens(text) - tokens) <= 0.3 * tokens


@given(st.text(), st.text())
def test_more_text_is_never_fewer_tokens(first: str, second: str) -> None:
    assert estimate_tokens(first + second) >= max(estimate_tokens(first), estimate_tokens(second))


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [(999, "999"), (1_000, "1k"), (1_249, "1.2k"), (9_960, "10k"), (999_999, "1M"), (45_000_000_000, "45G")],
)
def test_token_counts_have_a_short_form(tokens: int, shown: str) -> None:
    assert format_tokens(tokens) == shown
