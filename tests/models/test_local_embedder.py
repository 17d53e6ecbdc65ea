"""The embedder on this machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from roamtui.errors import ModelError, UsageError
from roamtui.models.local_embedder import LocalEmbedder, find_installed_embedder
from roamtui.models.search_models import BackgroundLoop, LitellmEmbedder, find_embedder
from roamtui.search.vectors import normalise_rows

pytest.importorskip("onnxruntime")


@pytest.mark.usefixtures("packaged_model")
def test_it_knows_what_words_mean_whatever_stands_beside_a_text() -> None:
    embedder = find_installed_embedder()
    assert embedder is not None
    texts = ["How do I pay my employees?", "Wages are due monthly.", "Roses need water."]
    query, wages, roses = normalise_rows(embedder.embed(texts))
    assert query @ wages > query @ roses
    (alone,) = normalise_rows(embedder.embed(texts[:1]))
    assert alone @ query > 0.98
    assert embedder.embed([]).size == 0


_EMBED_UNTIL_THE_END = """
import threading
from roamtui.models.local_embedder import find_installed_embedder
embedder = find_installed_embedder()
has_begun = threading.Event()
def work():
    while True:
        embedder.embed(["the last words"] * 8)
        has_begun.set()
threading.Thread(target=work, daemon=True).start()
has_begun.wait()
takes_long_to_free = [{} for _ in range(1_000_000)]
"""


def test_a_program_that_ends_while_it_embeds_ends_well() -> None:
    command = [sys.executable, "-c", _EMBED_UNTIL_THE_END]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": ""})
    assert (done.returncode, done.stderr) == (0, "")


def test_another_file_than_the_known_one_is_never_loaded(tmp_path: Path) -> None:
    other = tmp_path / "model.onnx"
    other.write_bytes(b"\x1b[31m")
    with pytest.raises(ModelError, match=r"is not the one that roamtui knows\. Install roamtui\[meaning\] again"):
        LocalEmbedder(other).embed(["a"])


def test_the_setting_names_the_installed_model_or_a_server() -> None:
    background = BackgroundLoop()
    assert find_embedder("auto", background) is None
    with pytest.raises(UsageError, match='invalid embedder name "e5"'):
        find_embedder("e5", background)
    assert isinstance(find_embedder("ollama/arctic", background), LitellmEmbedder)
