"""Read how the parts of an Office file (XLSX, PPTX) refer to each other."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from roamtui.sources.convert.zip_package import ZipPackage

MACROS_PART = "vbaProject.bin"
"""End of the name of the part that holds macros."""


def read_relationship_targets(package: ZipPackage, part: str, *, is_external: bool = False) -> Mapping[str, str]:
    """Return the parts that a part refers to, by relationship id.

    If `is_external`, return the targets outside the file instead.
    """
    folder, _, file = part.rpartition("/")
    relationships = package.parse(f"{folder}/_rels/{file}.rels")
    targets = {
        relationship.get("Id", ""): relationship.get("Target", "")
        for relationship in (relationships if relationships is not None else ())
        if (relationship.get("TargetMode") == "External") is is_external
    }
    if is_external:
        return targets
    return {name: posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/") for name, path in targets.items()}


def get_relationship_id(element: Any) -> str:  # noqa: ANN401 - lxml has no types
    """Return the relationship id that an element refers to, or an empty string. Its own `id` has no namespace."""
    return next((str(value) for key, value in element.attrib.items() if key.endswith("}id")), "")
