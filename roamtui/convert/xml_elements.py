"""Reads the text, names and attributes of XML and HTML elements."""

import re
from typing import Any

_NUMBER = re.compile("-?[0-9]{1,9}")


def join_text(element: Any) -> str:  # noqa: ANN401 - lxml has no types
    """Return the text in an element, on one line."""
    return " ".join("".join(element.itertext("*")).split())


def list_paragraphs(drawing: Any) -> list[str]:  # noqa: ANN401
    """List the paragraphs in a drawing of Office that have text, each on one line."""
    for line_break in drawing.iter("{*}br"):
        line_break.text = " "
    lines = ("".join(each.itertext("{*}t", "{*}br")).split() for each in drawing.iter("{*}p"))
    return [" ".join(words) for words in lines if words]


def get_local_name(element: Any) -> str:  # noqa: ANN401
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def get_attribute(element: Any, name: str) -> str:  # noqa: ANN401
    """Return the value of an attribute by its name without a namespace, or an empty string."""
    return next((str(value) for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def parse_int(value: str | None, default: int = 0) -> int:
    """Return the whole number in an attribute, or `default` if it is missing or has over nine digits."""
    return int(value) if value and _NUMBER.fullmatch(value) else default


def is_true(value: str | None) -> bool:
    """Return whether the value of an Office attribute means yes. A missing value means no."""
    return (value or "0").lower() not in ("0", "false", "off", "none")
