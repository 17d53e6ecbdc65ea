"""Nothing in the package is of one system alone, unless a check of the system stands before it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.real_documents import PROJECT_DIR


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["win32", "darwin", "linux"])
def test_the_package_uses_only_what_each_system_has(platform: str) -> None:
    cache = PROJECT_DIR / ".mypy_cache"  # of `make lint`, which has just checked this system
    if platform != sys.platform:
        cache /= platform  # in one cache each system would undo what another has done
    command = ["mypy", "--platform", platform, "--cache-dir", str(cache), "roamtui"]
    checked = subprocess.run(
        [sys.executable, "-m", *command], cwd=PROJECT_DIR, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout
