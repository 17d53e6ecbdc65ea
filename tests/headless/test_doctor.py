"""`doctor` looks at files and models, and changes nothing."""

from __future__ import annotations

import pytest

from roamtui.headless.doctor import collect_diagnostics, print_diagnosis


@pytest.fixture
def closed_ollama(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_API_BASE", "http://127.0.0.1:9")


@pytest.mark.usefixtures("closed_ollama")
def test_all_fits_one_screen_and_obeys_no_foreign_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = collect_diagnostics()
    models = tuple(f"\x1b[2Jmodel-{number}" for number in range(9))
    found["ollama"] = {"address": "http://127.0.0.1:11434", "models": models, "problem": ""}
    found["model"] = {
        "name": "a/\x1b[1mb",
        "usable": False,
        "reason": "no\x1b[0m",
        "provider": "a",
        "window_tokens": None,
        "can_call_tools": None,
    }
    assert print_diagnosis(found) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert out.count("\n") <= 24
    assert "model-4" in out
    assert "provider a, window unknown, tool support unknown" in out
