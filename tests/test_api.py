"""The face of the library: what is promised is there, documented, and enough to ask a question with."""

import ast
import inspect
import re
import subprocess
import sys

import roamtui
from roamtui import api
from tests.real_documents import PROJECT_DIR


def test_every_name_is_there_and_documented() -> None:
    page = (PROJECT_DIR / "docs" / "python.md").read_text("utf-8")
    assert sorted(re.findall(r"^\| `(\w+)", page, re.MULTILINE)) == sorted(api.__all__)
    for name in api.__all__:
        named = getattr(roamtui, name)
        assert not inspect.isclass(named) or named.__doc__
        assert not inspect.isfunction(named) or "Return" in (named.__doc__ or "")


def test_the_example_asks_and_proves() -> None:
    command = [sys.executable, "examples/ask.py", "examples/handbook.md", "What is the grace period?"]
    said = subprocess.run(command, cwd=PROJECT_DIR, capture_output=True, text=True, check=True).stdout
    assert re.search(r"^opened:", said, re.MULTILINE)
    assert re.search(r"^\[[0-9a-f]{8}\] line \d+: exact: .*24 hours", said, re.MULTILINE)


def test_the_package_lists_its_names() -> None:
    script = "import roamtui; print(roamtui.__all__); print(dir(roamtui))"
    exported, listed = subprocess.check_output([sys.executable, "-c", script], text=True).splitlines()
    assert ast.literal_eval(exported) == api.__all__
    assert {*api.__all__, "__version__"} <= set(ast.literal_eval(listed))


def test_it_loads_nothing_before_it_is_used() -> None:
    script = "import sys, roamtui; print([name for name in sys.modules if name.startswith('roamtui.')])"
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "[]\n"
