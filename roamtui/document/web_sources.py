"""What a person named into a library, addresses of the web among it, and what loads the rest of it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from roamtui.document.build import open_sources
from roamtui.document.node import NodeKind
from roamtui.document.web_options import WebOptions
from roamtui.errors import SourceError, UsageError
from roamtui.sources.read import is_path

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from roamtui.document.library import Library
    from roamtui.document.source_loader import SourceLoader
    from roamtui.document.web_loader import PageLoader

_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,24}(?::\d{1,5})?(?:/\S*)?", re.IGNORECASE)
_NO_WEB = WebOptions()


def open_named(
    names: Sequence[str], *, web: WebOptions = _NO_WEB, kept_dir: Path | None = None
) -> tuple[Library, SourceLoader | None]:
    """Return the library of what a person named: paths, or one address or ``-``.

    Args:
        names: Only what has a scheme is an address.
        web: How pages are fetched.
        kept_dir: As for `open_sources`.

    Returns:
        The library, and what loads its files and the pages of its links; None where it has neither.

    Raises:
        SourceError: It cannot be read.
        UsageError: Something was named together with others that can only be opened alone.
    """
    if len(names) == 1 and is_address(names[0]):
        return _open_address(names[0], web)
    try:
        library, files = open_sources(names, kept_dir=kept_dir)
    except SourceError as error:
        address = suggest_address(names[0]) if len(names) == 1 else None
        if address is None:
            raise
        raise SourceError(f"{error} If you mean a site, write {address}.") from None
    if files is None and NodeKind.LINK not in library.root.columns.kinds:
        return library, None
    from roamtui.document.source_loader import SourceLoader  # noqa: PLC0415 - a single document needs none

    return library, SourceLoader(files, lambda: _make_pages(web, frozenset()))


def is_address(name: str) -> bool:
    """Return whether what a person named has a scheme, as an address of the web must."""
    return name != "-" and not is_path(name)


def suggest_address(name: str) -> str | None:
    """Return the address that a person may mean by a name without a scheme that is no file, None where none."""
    if os.path.lexists(name) or _HOST.fullmatch(name) is None:
        return None
    return f"https://{name}"


def _open_address(name: str, web: WebOptions) -> tuple[Library, SourceLoader]:
    from roamtui.document.source_loader import SourceLoader  # noqa: PLC0415 - only addresses need the web
    from roamtui.document.web_site import open_address  # noqa: PLC0415 - likewise
    from roamtui.sources.web.address import origin_of, parse_address  # noqa: PLC0415 - likewise

    url = parse_address(name)
    pages = _make_pages(web, frozenset({origin_of(url)}))
    return open_address(url, pages.fetcher, pages.typed), SourceLoader(None, lambda: pages)


def _make_pages(web: WebOptions, typed: frozenset[str]) -> PageLoader:
    """Return what fetches pages; its connections are closed when nobody holds it any more, and with the program."""
    from weakref import finalize  # noqa: PLC0415 - only addresses need the web

    from roamtui.document.web_loader import PageLoader  # noqa: PLC0415 - likewise
    from roamtui.sources.web.fetcher import Fetcher, FetchOptions  # noqa: PLC0415 - likewise

    options = FetchOptions(is_offline=web.is_offline, is_checking=web.is_checking)
    fetcher = Fetcher(cache_dir=web.cache_dir, options=options)
    allowed = read_origins(web.allowed, "--allow-origin") | read_origins(web.read_allowed(), "web.allow")
    pages = PageLoader(fetcher, typed | allowed)
    finalize(pages, fetcher.close)
    return pages


def read_origins(addresses: Sequence[str], option: str) -> frozenset[str]:
    """Return the origins of addresses that a person typed.

    Args:
        addresses: As they were typed.
        option: Where, to name it in an error.

    Raises:
        UsageError: One of them is no address.
    """
    from roamtui.sources.web.address import origin_of  # noqa: PLC0415 - only addresses need the web

    try:
        return frozenset(map(origin_of, addresses))
    except SourceError as error:
        raise UsageError(f"{option}: {error}") from None
