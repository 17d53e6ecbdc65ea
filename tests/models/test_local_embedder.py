"""Embedders on this machine: models of sentence-transformers as ONNX, in folders as people have them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from roamtui.errors import ModelError, UsageError
from roamtui.models.local_embedder import (
    DEFAULT_MODEL,
    LocalEmbedder,
    find_installed_embedder,
    find_packaged_model,
    open_embedder,
)
from roamtui.models.search_models import BackgroundLoop, LitellmEmbedder, find_embedder
from roamtui.paths import models_path
from roamtui.search.vectors import normalise_rows

onnx = pytest.importorskip("onnx")
tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("onnxruntime")

_WORDS = {"[UNK]": 0, "late": 1, "fees": 2, "roses": 3, "ask": 4, "[PAD]": 5}
_VECTORS = [[0, 0], [1, 0], [3, 0], [0, 1], [0, 8], [9, 9]]


def make_folder(folder: Path, *, name: str = "model.onnx", pooling: str = "mean", prompt: str = "") -> Path:
    """Write a model of a few words: a row of numbers for each token."""
    (folder / name).parent.mkdir(parents=True)
    words = tokenizers.models.WordLevel(_WORDS, unk_token="[UNK]")  # noqa: S106
    tokenizer = tokenizers.Tokenizer(words)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    helper, kinds = onnx.helper, onnx.TensorProto
    table = onnx.numpy_helper.from_array(np.array(_VECTORS, dtype=np.float32), "table")
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["tokens"])],
        "words",
        [helper.make_tensor_value_info("input_ids", kinds.INT64, ["batch", "length"])],
        [helper.make_tensor_value_info("tokens", kinds.FLOAT, ["batch", "length", 2])],
        [table],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, str(folder / name))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": pooling == "cls"}))
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"query": prompt}}))
    return folder


def test_a_text_is_the_mean_of_its_words_whatever_stands_beside_it(tmp_path: Path) -> None:
    embedder = open_embedder(make_folder(tmp_path / "model"))
    rows = embedder.embed(["late fees", "roses", "unknown"])
    assert rows.tolist() == [[2, 0], [0, 1], [0, 0]]
    assert embedder.embed([]).size == 0
    assert not embedder.is_multilingual


def test_pooling_and_prompts_are_those_of_the_model(tmp_path: Path) -> None:
    embedder = open_embedder(make_folder(tmp_path / "m", name="onnx/model_quint8.onnx", pooling="cls", prompt="ask "))
    assert embedder.embed(["late fees"]).tolist() == [[1, 0]]
    assert embedder.embed(["late fees"], is_query=True).tolist() == [[0, 8]]


def test_a_damaged_model_is_one_sentence(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "model")
    (folder / "model.onnx").write_bytes(b"\x1b[31m")
    with pytest.raises(ModelError, match=r"^The embedder \".*\" failed: .*Choose another with --embedder\.$") as caught:
        open_embedder(folder).embed(["a"])
    assert "\x1b" not in str(caught.value)


@pytest.mark.usefixtures("packaged_model")
def test_the_packaged_model_knows_what_words_mean() -> None:
    embedder = find_installed_embedder()
    assert embedder is not None
    texts = ["How do I pay my employees?", "Wages are due monthly.", "Roses need water."]
    query, wages, roses = normalise_rows(embedder.embed(texts))
    assert query @ wages > query @ roses
    assert not embedder.is_multilingual


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


def test_a_program_that_ends_while_it_embeds_ends_well() -> None:
    command = [sys.executable, "-c", _EMBED_UNTIL_THE_END]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": ""})
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.usefixtures("packaged_model")
def test_another_file_in_the_package_is_never_loaded(tmp_path: Path) -> None:
    files = find_packaged_model()
    assert files is not None
    other = tmp_path / "model.onnx"
    other.write_bytes(files.model.read_bytes() + b"\0")
    with pytest.raises(ModelError, match=r"is not the one that roamtui knows\. Install roamtui\[meaning\] again"):
        LocalEmbedder(replace(files, model=other)).embed(["a"])


def test_the_setting_names_an_installed_model_a_folder_or_a_server(tmp_path: Path) -> None:
    background = BackgroundLoop()
    assert find_embedder("auto", background) is None
    with pytest.raises(UsageError, match="has no model"):
        find_embedder(str(tmp_path), background)
    with pytest.raises(UsageError, match='invalid embedder name "e5"'):
        find_embedder("e5", background)
    assert isinstance(find_embedder(str(make_folder(tmp_path / "mine")), background), LocalEmbedder)
    assert isinstance(find_embedder("ollama/arctic", background), LitellmEmbedder)
    make_folder(models_path() / DEFAULT_MODEL)
    assert isinstance(find_embedder("auto", background), LocalEmbedder)
