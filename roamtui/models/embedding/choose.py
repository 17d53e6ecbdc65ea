"""From an embedder's name to an embedder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from roamtui.document.plain import plain_line, shorten
from roamtui.errors import UsageError
from roamtui.models.choose import check_address
from roamtui.models.embedding.litellm import LitellmEmbedder
from roamtui.models.embedding.local import LocalEmbedder

if TYPE_CHECKING:
    from roamtui.models.background import BackgroundModels
    from roamtui.search.base import Embedder

LOCAL = "local:"
"""Before the name of a sentence-transformers model."""
EXAMPLES = "ollama/snowflake-arctic-embed2, openai/text-embedding-3-small or local:FOLDER"


def make_embedder(name: str, background: BackgroundModels, *, api_base: str | None = None) -> Embedder:
    """Return the embedder that a person chose; nothing is loaded or asked yet.

    Args:
        name: ``local:`` and a name, package or folder; the path of a folder; else provider and model.
        background: Where requests to providers run.
        api_base: Address of a provider's server, None for its own.

    Raises:
        UsageError: The name makes no sense, or what it needs is not installed.
    """
    is_folder = bool(name) and Path(name).expanduser().is_dir()
    if name.startswith(LOCAL) or is_folder:
        return LocalEmbedder(name.removeprefix(LOCAL))
    if "/" not in name or not name.isprintable() or any(character.isspace() for character in name):
        raise UsageError(f'"{shorten(plain_line(name), 80)}" is no name of an embedder; write {EXAMPLES}.')
    check_address(api_base, "embedder_api_base")
    return LitellmEmbedder(name, background, api_base=api_base)
