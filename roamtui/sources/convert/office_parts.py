"""Read how the parts of an Office file (XLSX, PPTX) refer to each other."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from roamtui.sources.convert.zip_package import ZipPackage

MACROS_PART = "vbaProject.bin"
"""End of the name of the part that holds macros."""


def read_targets(package: ZipPackage, part: str, *, is_external: bool = False) -> Mapping[str, str]:
    """Return the parts that another part refers to, by the ids of the relations.

    If `is_external`, return the addresses of links outside the file instead.
    """
    folder, _, file = part.rpartition("/")
    relations = package.parse(f"{folder}/_rels/{file}.rels")
    found = {
        relation.get("Id", ""): relation.get("Target", "")
        for relation in (relations if relations is not None else ())
        if (relation.get("TargetMode") == "External") is is_external
    }
    if is_external:
        return found
    return {name: posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/") for name, target in found.items()}


def get_relation_id(element: Any) -> str:  # noqa: ANN401 - lxml has no types
    """Return the id of the relation that an element names, or an empty string. Its own id has no namespace."""
    return next((str(value) for key, value in element.attrib.items() if key.endswith("}id")), "")
