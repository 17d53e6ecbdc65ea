"""Writes `docs/licences.md`: what is installed with roamtui, from the metadata of these packages."""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

_PROJECT = Path(__file__).parents[1]
_CONSTRAINTS = _PROJECT / "constraints.txt"
_PAGE = _PROJECT / "docs" / "licences.md"
_HEAD = """\
# Licences of what is installed

Every package of `constraints.txt`, with the licence that its own metadata states; not all of them are
needed to run roamtui. `python docs/write_licences.py` writes this page anew.
roamtui itself is under the MIT licence. It contains the tokenizer of all-MiniLM-L6-v2, which is under
Apache-2.0 (`roamtui/models/minilm`).

| package | version | licence |
|---|---|---|
"""
_FOOT = """
## Known vulnerabilities

A list of vulnerabilities is out of date the day after it is stored, so roamtui keeps none. Ask for
the list of today:

```sh
pipx run pip-audit --requirement constraints.txt --no-deps --disable-pip
```

It sends names and versions of the packages above to pypi.org, nothing else.
"""
_LICENCE_START = "License :: "


def read_constraints(text: str) -> list[tuple[str, str]]:
    """Return name and version of each line."""
    return re.findall(r"^([\w.-]+)==(\S+)$", text, re.MULTILINE)


def name_licence(found: PackageMetadata) -> str:
    """Return the licence that a package states: as an expression, by its classifiers, or in words."""
    if "License-Expression" in found:
        return found["License-Expression"]
    classifiers = [line for line in found.get_all("Classifier") or () if line.startswith(_LICENCE_START)]
    names = [line.rpartition(" :: ")[2] for line in classifiers if line.count("::") > 1]
    if names:
        return " / ".join(names)
    stated = "".join(found.get_all("License") or ()).strip()
    return stated.split("\n")[0] or "not stated"


def render_page(constraints: str) -> str:
    """Return the page.

    Raises:
        PackageNotFoundError: One of the packages is not installed.
    """
    rows = [
        f"| {name} | {version} | {name_licence(metadata(name))} |\n"
        for name, version in read_constraints(constraints)
    ]
    return f"{_HEAD}{''.join(rows)}{_FOOT}"


def main() -> int:
    """Write the page."""
    try:
        page = render_page(_CONSTRAINTS.read_text("utf-8"))
    except PackageNotFoundError as error:
        sys.stderr.write(f"{error.name} is not installed. Install all of constraints.txt first.\n")
        return 1
    _PAGE.write_text(page, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
