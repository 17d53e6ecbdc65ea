"""Everything that is installed with roamtui is free to use, and the page that says so is the one of today."""

import re
from importlib.metadata import PackageNotFoundError, metadata, version

from docs.write_licences import name_licence, read_constraints, render_bill, render_page
from tests.real_documents import PROJECT_DIR

_FREE = re.compile(
    r"MIT|BSD|Apache|MPL|Mozilla Public|PSF|Python Software Foundation|ISC|0BSD|Zlib|CC0|CNRI-Python|Unlicense|HPND"
)
_UNFREE = re.compile(r"GPL|AGPL|LGPL|SSPL|BUSL|Commons Clause|Proprietary|not stated|NonCommercial", re.IGNORECASE)
_CONSTRAINTS = read_constraints((PROJECT_DIR / "constraints.txt").read_text("utf-8"))
_PAGE = (PROJECT_DIR / "docs" / "licences.md").read_text("utf-8")
_ROWS = re.findall(r"^\| ([\w.-]+) \| (\S+) \| (.+) \|$", _PAGE, re.MULTILINE)[1:]


def test_the_page_lists_every_package_of_the_constraints() -> None:
    listed = [(name, number) for name, number, _ in _ROWS]
    assert listed == _CONSTRAINTS, "run docs/write_licences.py"
    assert len(listed) > 50


def test_page_and_bill_of_materials_say_the_same() -> None:
    assert render_page(_ROWS) == _PAGE, "run docs/write_licences.py"
    assert render_bill(_ROWS) == (PROJECT_DIR / "docs" / "sbom.json").read_text("utf-8"), "run docs/write_licences.py"


def test_every_package_is_free_to_use() -> None:
    unfree = [
        f"{name}: {licence}"
        for name, _, licence in _ROWS
        if _UNFREE.search(licence) or not all(map(_FREE.search, re.split(r" AND | OR | and | / ", licence)))
    ]
    assert unfree == []


def test_the_page_says_what_the_packages_say() -> None:
    for name, number, licence in _ROWS:
        try:
            if version(name) == number:
                assert name_licence(metadata(name)) == licence, name
        except PackageNotFoundError:
            continue
