"""Pieces of a provider's thinking blocks into the blocks that have to be sent back unchanged."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class ThinkingAssembler:
    """Collects the thinking blocks of one reply."""

    def __init__(self) -> None:
        self._blocks: list[dict[str, object]] = []

    def add(self, pieces: Iterable[Mapping[str, object]]) -> None:
        """Take pieces in the order in which they came; a signature ends its block."""
        for piece in pieces:
            if piece.get("type") != "thinking":
                self._blocks.append(dict(piece))
                continue
            block = self._open_block()
            so_far, text = str(block["thinking"]), str(piece.get("thinking") or "")
            # With the signature, litellm sends all of the block's text once more.
            is_whole = bool(piece.get("signature")) and text.startswith(so_far)
            block["thinking"] = text if is_whole else so_far + text
            if signature := piece.get("signature"):
                block["signature"] = signature

    def finish(self) -> str:
        """Return the blocks as JSON, "" for none; an unsigned block is left out, as no provider takes it back."""
        whole = [block for block in self._blocks if block["type"] != "thinking" or "signature" in block]
        return json.dumps(whole) if whole else ""

    def _open_block(self) -> dict[str, object]:
        last = self._blocks[-1] if self._blocks else None
        if last is None or last["type"] != "thinking" or "signature" in last:
            last = {"type": "thinking", "thinking": ""}
            self._blocks.append(last)
        return last
