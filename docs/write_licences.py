"""Writes `docs/licences.md` and `docs/sbom.json`: what is installed with roamtui, as its packages say.

The second is a bill of materials in the form of CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/).
"""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

_PROJECT = Path(__file__).parents[1]
_CONSTRAINTS = _PROJECT / "constraints.txt"
_PAGE = _PROJECT / "docs" / "licences.md"
_BILL = _PROJECT / "docs" / "sbom.json"
_HEAD = """\
# Licences of what is installed

Every package of `constraints.txt`, with the licence that its own metadata states; not all of them are
needed to run roamtui. [sbom.json](sbom.json) has the same as a bill of materials (CycloneDX 1.6).
`make docs` writes both anew.
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
Packages = list[tuple[str, str, str]]
"""Name, version and licence of each package."""


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


def render_page(packages: Packages) -> str:
    """Return the page."""
    rows = [f"| {name} | {version} | {licence} |\n" for name, version, licence in packages]
    return f"{_HEAD}{''.join(rows)}{_FOOT}"


def render_bill(packages: Packages) -> str:
    """Return the bill of materials as JSON, without a time, so that the same packages make the same bill."""
    components = [
        {
            "type": "library",
            "name": name,
            "version": version,
            "purl": f"pkg:pypi/{name.lower().replace('_', '-')}@{version}",
            "licenses": [{"license": {"name": licence}}],
        }
        for name, version, licence in packages
    ]
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": components}
    return json.dumps(bill, indent=1) + "\n"


def main() -> int:
    """Write both."""
    constraints = read_constraints(_CONSTRAINTS.read_text("utf-8"))
    try:
        packages = [(name, version, name_licence(metadata(name))) for name, version in constraints]
    except PackageNotFoundError as error:
        sys.stderr.write(f"{error.name} is not installed. Install all of constraints.txt first.\n")
        return 1
    _PAGE.write_text(render_page(packages), "utf-8")
    _BILL.write_text(render_bill(packages), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
