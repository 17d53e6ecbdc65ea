"""The estimate against a real tokenizer: cl100k, whose file comes with litellm, so no network is needed."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.document.tokens import estimate_tokens, format_tokens
from tests.real_documents import read_document

_COUNT = """
import json, sys, tiktoken
encoding = tiktoken.get_encoding("cl100k_base")
json.dump([len(encoding.encode(text, disallowed_special=())) for text in json.load(sys.stdin)], sys.stdout)
"""
_LENGTH_MIN = 200
"""Characters; in shorter sections a single odd word decides."""
_CJK = (
    "本手册介绍如何安装服务、检查状态以及在出现故障时联系谁。请先阅读第一章,然后按照步骤操作。" * 5,
    "この手引きでは、サービスの導入方法、状態の確認、障害時の連絡先について説明します。" * 5,
    "이 안내서는 서비스를 설치하고 상태를 확인하며 문제가 생겼을 때 연락할 사람을 설명합니다. " * 5,
)


def _measure_error(texts: Sequence[str]) -> float:
    """Return the mean error of the estimates, by the real tokenizer."""
    litellm = importlib.util.find_spec("litellm")
    assert litellm
    assert litellm.origin
    tokenizers = Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers"
    environ = os.environ | {"TIKTOKEN_CACHE_DIR": str(tokenizers)}
    counted = subprocess.check_output([sys.executable, "-c", _COUNT], input=json.dumps(texts).encode(), env=environ)
    counts: list[int] = json.loads(counted)
    return mean(abs(estimate_tokens(text) - count) / count for text, count in zip(texts, counts, strict=True))


@pytest.mark.slow
@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize(("name", "error_max"), [("vue-guide", 0.15), ("tigerbeetle-docs", 0.15), ("de-gg", 0.3)])
def test_the_mean_error_on_sections_of_books_is_small(name: str, error_max: float) -> None:
    library = Library(source=name, root=parse_document(read_document(f"books/{name}.md")[:300_000]))
    texts = map(library.own_text, library.walk())
    assert _measure_error([text for text in texts if len(text) >= _LENGTH_MIN]) <= error_max


@pytest.mark.slow
def test_the_error_on_chinese_japanese_and_korean_is_bearable() -> None:
    assert _measure_error(_CJK) <= 0.4


@given(st.text(), st.text())
def test_more_text_is_never_fewer_tokens(first: str, second: str) -> None:
    assert estimate_tokens(first + second) >= max(estimate_tokens(first), estimate_tokens(second))


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [
        (999, "999"),
        (1_000, "1k"),
        (1_249, "1.2k"),
        (9_960, "10k"),
        (999_999, "1M"),
        (45_000_000_000, "45G"),
    ],
)
def test_token_counts_have_a_short_form(tokens: int, shown: str) -> None:
    assert format_tokens(tokens) == shown
