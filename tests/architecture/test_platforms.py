"""Nothing in the package is of one system alone, unless a check of the system stands before it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.real_documents import PROJECT_DIR


@pytest.mark.slow
def test_the_package_uses_on_windows_only_what_it_has() -> None:
    cache = PROJECT_DIR / ".mypy_cache" / "win32"  # in one cache each system would undo what another has done
    command = ["mypy", "--platform", "win32", "--cache-dir", str(cache), "roamtui"]
    checked = subprocess.run(
        [sys.executable, "-m", *command], cwd=PROJECT_DIR, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout
