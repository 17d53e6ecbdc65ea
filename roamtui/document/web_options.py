"""What a person allows the program to do with the web."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class WebOptions:
    """How pages are fetched."""

    cache_dir: Path | None = None
    """Folder where pages are kept, None for nowhere."""
    is_offline: bool = False
    """Whether the cache alone is used."""
    is_checking: bool = False
    """Whether sites are asked if a page has changed even where they said that it would not yet."""
    allowed: tuple[str, ...] = ()
    """Addresses whose origins the person typed besides that of the source."""
    read_allowed: Callable[[], tuple[str, ...]] = tuple
    """Gives more of them, asked once the first page is needed."""
