"""The embedder on this machine: the packaged model."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from roamtui.errors import ModelError, UsageError
from roamtui.models.local_embedder import LocalEmbedder, find_installed_embedder, find_packaged_model
from roamtui.models.search_models import BackgroundLoop, LitellmEmbedder, make_embedder
from roamtui.search.vectors import normalise_rows

pytest.importorskip("tokenizers")
pytest.importorskip("onnxruntime")


@pytest.mark.usefixtures("packaged_model")
def test_the_packaged_model_knows_what_words_mean() -> None:
    embedder = find_installed_embedder()
    assert embedder is not None
    texts = ["How do I pay my employees?", "Wages are due monthly.", "Roses need water."]
    query, wages, roses = normalise_rows(embedder.embed(texts))
    assert query @ wages > query @ roses
    assert embedder.embed([]).size == 0


_EMBED_UNTIL_THE_END = """
import threading
from roamtui.models.local_embedder import LocalEmbedder, find_packaged_model
embedder = LocalEmbedder(find_packaged_model())
has_begun = threading.Event()
def work():
    while True:
        embedder.embed(["the last words"] * 8)
        has_begun.set()
threading.Thread(target=work, daemon=True).start()
has_begun.wait()
takes_long_to_free = [{} for _ in range(1_000_000)]
"""


def test_a_program_that_ends_while_it_embeds_ends_well_and_leaves_no_telemetry(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _EMBED_UNTIL_THE_END]
    environ = {**os.environ, "PYTHONPATH": "", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
    assert (done.returncode, done.stderr) == (0, "")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.usefixtures("packaged_model")
def test_another_file_in_the_package_is_never_loaded(tmp_path: Path) -> None:
    model = find_packaged_model()
    assert model is not None
    other = tmp_path / "model.onnx"
    other.write_bytes(model.read_bytes() + b"\0")
    expected = (
        r'^The embedder "all-MiniLM-L6-v2" failed: its file is not the one that roamtui knows\. '
        r"Install roamtui\[meaning\] again\. Choose another with --embedder\.$"
    )
    with pytest.raises(ModelError, match=expected):
        LocalEmbedder(other).embed(["a"])


def test_without_the_package_only_a_server_embeds() -> None:
    background = BackgroundLoop()
    assert make_embedder("auto", background) is None
    for name in ("e5", "."):
        with pytest.raises(UsageError, match=f'invalid embedder name "{name}"'):
            make_embedder(name, background)
    assert isinstance(make_embedder("ollama/arctic", background), LitellmEmbedder)
