"""Each promise in `tests/PROMISES.md` has a test that holds it."""

from __future__ import annotations

import re

from tests.real_documents import PROJECT_DIR

_HOLDER = re.compile(r": `([\w/]+\.py)(?:::(\w+))?`$", re.MULTILINE)


def test_each_promise_has_its_test() -> None:
    text = (PROJECT_DIR / "tests" / "PROMISES.md").read_text("utf-8")
    holders = _HOLDER.findall(text)
    assert len(holders) == text.count("\n- ")
    missing = []
    for path, name in holders:
        file = PROJECT_DIR / "tests" / path
        if not file.exists() or f"def {name}" not in file.read_text("utf-8"):
            missing.append(f"{path}::{name}")
    assert missing == []
