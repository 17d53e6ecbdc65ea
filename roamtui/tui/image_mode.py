"""How pictures are drawn."""

from enum import StrEnum


class ImageMode(StrEnum):
    """How pictures are drawn."""

    AUTO = "auto"
    """As kitty's placeholders where they are known to work, else as half cells if there are enough colours."""
    CELLS = "cells"
    """As half cells, each with one colour."""
    KITTY = "kitty"
    """As kitty's placeholders."""
    OFF = "off"
