"""Files for listings, and the keys of a listing."""

from pathlib import Path

from roamtui.sources.listing import Listing


def write(root: Path, *names: str, text: str = "# Title\n") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def keys(listing: Listing) -> list[str]:
    return ["/".join(path) for path, _ in listing.list_entries()]
