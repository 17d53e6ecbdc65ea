"""A real small model, served by llama.cpp on this machine: `make local-model` installs both, and runs this.

SmolLM2 has 135 million parameters, so its answers are poor. What counts is that each question ends with an answer or
with a plain sentence, in every window, and stops at once when a person says so.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_documents import PROJECT_DIR

pytestmark = pytest.mark.timeout(900)

_PYTHON = os.environ["ROAMTUI_LOCAL_MODEL_PYTHON"]
_MODEL = "openai/smollm2-135m"
_OUTPUT_TOKENS = 60
"""Enough to see that answers stream. SmolLM2 seldom stops by itself."""
_HANDBOOK = PROJECT_DIR / "examples" / "handbook.md"
_FOLLOW_UPS = ("And what does it cost to be late?", "Who can borrow?", "When is it open?", "Compare all fees.")
_FAULTY = re.compile(r"Traceback|exceeds the context window|[\x00-\x08\x0b-\x1f\x7f]")


@pytest.fixture(scope="module", params=[2_048, 4_096, 8_192])
def api_base(request: pytest.FixtureRequest) -> Iterator[str]:
    """Serve the model with a context window of some size. Return the URL."""
    command = [_PYTHON, "tests/models/serve_model.py", str(request.param)]
    with subprocess.Popen(
        command, cwd=PROJECT_DIR, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        yield f"{server.stdout.readline().strip()}/v1"
        server.kill()


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Return an environment with an own home, in which replies are short."""
    folder = tmp_path / "roamtui"
    folder.mkdir()
    (folder / "config.toml").write_text(f"output_tokens = {_OUTPUT_TOKENS}\n", "utf-8")
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), str(tmp_path))
    return {**os.environ, **places}


def _make_command(api_base: str, *words: str) -> list[str]:
    return [sys.executable, "-m", "roamtui", *words, "--model", _MODEL, "--api-base", api_base]


def _run(api_base: str, environ: dict[str, str], *words: str) -> str:
    """Run a command that must end with an answer or with a plain sentence. Return what it printed."""
    run = subprocess.run(
        _make_command(api_base, *words), cwd=PROJECT_DIR, env=environ, capture_output=True, text=True, check=False
    )
    assert run.returncode in (0, 1), run.stderr
    assert not _FAULTY.search(run.stdout + run.stderr), run.stdout + run.stderr
    if run.returncode == 1 and not run.stdout:  # else the nearest passages are shown
        assert run.stderr.rstrip().endswith("."), run.stderr
    return run.stdout


def test_a_question_and_its_follow_ups_end_with_an_answer_or_a_sentence(api_base: str, environ: dict[str, str]) -> None:
    answers = [_run(api_base, environ, "ask", str(_HANDBOOK), "How long can I keep a book?", "--json")]
    answers += [_run(api_base, environ, "ask", str(_HANDBOOK), each, "--json", "--continue") for each in _FOLLOW_UPS]
    assert sum(bool(json.loads(answer)["answer"]) for answer in filter(None, answers)) >= len(answers) - 1


def test_ctrl_c_stops_ask(api_base: str, environ: dict[str, str]) -> None:
    command = _make_command(api_base, "ask", str(_HANDBOOK), "List all rules, one by one.")
    with subprocess.Popen(
        command, cwd=PROJECT_DIR, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        time.sleep(1)  # at the start, when the model's process is loading
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate()
    assert run.returncode == 130
    assert "Traceback" not in errors
