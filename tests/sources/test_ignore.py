"""Patterns of ``.gitignore``, compared with git itself where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.sources.ignore import IgnoreRules, parse_patterns

_PATHS = [
    "a.md", "b/a.md", "b/c/a.md", "build/x.md", "b/build/x.md", "foo.md", "b/foo.txt", "b/c/d/e.md", "#x.md", "!y.md",
]  # fmt: skip


def is_out(patterns: str, path: str) -> bool:
    """Return whether a path or a folder above it is taken out."""
    rules = IgnoreRules(parse_patterns(patterns))
    names = tuple(path.split("/"))
    return any(rules.is_ignored(names[:end], is_folder=end < len(names)) for end in range(1, len(names) + 1))


@pytest.mark.parametrize(
    ("patterns", "out"),
    [
        ("", []),
        ("# a.md\n\n", []),
        ("a.md", ["a.md", "b/a.md", "b/c/a.md"]),
        ("/a.md", ["a.md"]),
        ("b/a.md", ["b/a.md"]),
        ("**/a.md", ["a.md", "b/a.md", "b/c/a.md"]),
        ("b/**/a.md", ["b/a.md", "b/c/a.md"]),
        ("b/**", ["b/a.md", "b/c/a.md", "b/build/x.md", "b/foo.txt", "b/c/d/e.md"]),
        ("build/", ["build/x.md", "b/build/x.md"]),
        ("foo.md/", []),
        ("*.txt", ["b/foo.txt"]),
        ("b/*.md", ["b/a.md"]),
        ("*.md\n!a.md", ["build/x.md", "b/build/x.md", "foo.md", "b/c/d/e.md", "#x.md", "!y.md"]),
        ("b\n!b/a.md", ["b/a.md", "b/c/a.md", "b/build/x.md", "b/foo.txt", "b/c/d/e.md"]),
        ("[af]*.md", ["a.md", "b/a.md", "b/c/a.md", "foo.md"]),
        ("[!a].md", ["build/x.md", "b/build/x.md", "b/c/d/e.md"]),
        ("?.md", ["a.md", "b/a.md", "b/c/a.md", "build/x.md", "b/build/x.md", "b/c/d/e.md"]),
        (r"\#x.md", ["#x.md"]),
        (r"\!y.md", ["!y.md"]),
        ("foo.md   ", ["foo.md"]),
        ("foo.md\r\n", ["foo.md"]),
        ("c\n!b", ["b/c/a.md", "b/c/d/e.md"]),
        ("b/**/*.md\n!c/", ["b/a.md", "b/c/a.md", "b/build/x.md", "b/c/d/e.md"]),
        ("[", []),
        ("[b-a].md\n[[a].md", ["a.md", "b/a.md", "b/c/a.md"]),
        ("/", []),
        ("a.md\\", []),
    ],
)
def test_patterns_take_out_what_git_takes_out(patterns: str, out: list[str]) -> None:
    assert [path for path in _PATHS if is_out(patterns, path)] == out


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not installed.")
    folder = tmp_path_factory.mktemp("checkout")
    subprocess.run([git, "init", "--quiet", folder], check=True)
    return folder


_LINES = st.lists(st.text(alphabet="ab*?/!.[]-\\# ", max_size=8), max_size=3)


@given(lines=_LINES, path=st.lists(st.sampled_from(["a", "b", "ab", "a.b"]), min_size=1, max_size=3))
def test_git_agrees_on_any_pattern(checkout: Path, lines: list[str], path: list[str]) -> None:
    patterns = "\n".join(lines)
    (checkout / ".gitignore").write_text(patterns, "utf-8")
    name = "/".join(path)
    command = ["git", "-C", str(checkout), "check-ignore", "--no-index", "--quiet", name]
    asked = subprocess.run(command, check=False, env={"GIT_CONFIG_GLOBAL": "/dev/null", "PATH": "/usr/bin:/bin"})
    assert asked.returncode in (0, 1)
    assert is_out(patterns, name) is (asked.returncode == 0)
