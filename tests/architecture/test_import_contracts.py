"""The layers, as `pyproject.toml` states them, and the imports that its static graph cannot see."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real_documents import PROJECT_DIR

_PACKAGE_DIR = PROJECT_DIR / "roamtui"
_OWNERS = {"textual": "tui", "rich": "tui", "litellm": "models", "openai": "models", "httpx": "models"}
"""The one folder that may name each of these outside an import statement."""


def _lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    lint = Path(sys.executable).with_name("lint-imports")
    return subprocess.run([lint, "--no-logo", "--no-cache"], cwd=folder, capture_output=True, text=True, check=False)


def test_every_layer_imports_only_those_above_it() -> None:
    result = _lint_imports(PROJECT_DIR)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "line", "complaint"),
    [
        ("document/plain.py", "import roamtui.outline", "Data flows one way BROKEN"),
        ("agent/loop.py", "import roamtui.tui.app", "Data flows one way BROKEN"),
        ("search/base.py", "import rich.text", "Only tui knows Textual and Rich BROKEN"),
        ("headless/ask.py", "import litellm", "Only models knows litellm and its clients BROKEN"),
        ("headless/ask.py", "import httpcore", "Only sources.web fetches BROKEN"),
        ("agent/tools/expand.py", "import roamtui.agent.tools.collapse", "Tools are independent BROKEN"),
        ("stray.py", "", "roamtui.stray"),
    ],
)
def test_a_wrong_import_breaks_its_contract(module: str, line: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes((PROJECT_DIR / "pyproject.toml").read_bytes())
    for path in _PACKAGE_DIR.rglob("*.py"):
        copy = tmp_path / path.relative_to(PROJECT_DIR)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    wrong = tmp_path / "roamtui" / module
    wrong.write_text(f"{wrong.read_text() if wrong.exists() else ''}\n{line}\n")
    result = _lint_imports(tmp_path)
    assert result.returncode == 1
    assert complaint in result.stdout


def test_late_imports_by_name_stay_in_their_layer() -> None:
    strays = []
    for path in _PACKAGE_DIR.rglob("*.py"):
        folder = path.relative_to(_PACKAGE_DIR).parts[0]
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__"):
                name = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
                if not isinstance(name, str) or _OWNERS.get(name.partition(".")[0]) != folder:
                    strays.append(f"{path}:{node.lineno}")
    assert strays == []
