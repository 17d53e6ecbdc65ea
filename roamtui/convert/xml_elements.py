"""Text, names and attributes of elements of XML and HTML."""

from typing import Any


def join_text(element: Any, tag: str = "*") -> str:  # noqa: ANN401 - lxml has no types
    """Return the text in an element, on one line; with `tag`, only that of the elements with this tag."""
    return " ".join("".join(element.itertext(tag)).split())


def get_local_name(element: Any) -> str:  # noqa: ANN401
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def get_attribute(element: Any, name: str) -> str:  # noqa: ANN401
    """Return the value of an attribute by its name without a namespace, or an empty string."""
    return next((str(value) for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def is_true(value: str | None) -> bool:
    """Return whether the value of an attribute of Office says yes. Without a value it does not."""
    return (value or "0").lower() not in ("0", "false", "off", "none")


def choose_alternative(alternatives: Any) -> Any:  # noqa: ANN401
    """Return the first of several forms of some content of Office: the one for its newest version."""
    return next(alternatives.iterchildren("{*}Choice", "{*}Fallback"), ())
