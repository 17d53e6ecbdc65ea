from __future__ import annotations

import subprocess
import sys

from roamtui.models.litellm_worker import prepare_environment

SCRIPT = """
import os, sys
from roamtui.models.litellm_worker import take_pipes

inward, outward = take_pipes()
print("noise of a library")
os.system("echo noise of a program; echo noise >&2")
print("more noise", file=sys.stderr, flush=True)
stolen = sys.stdin.read()
os.write(outward, b"frame " + inward.read() + stolen.encode())
"""


def test_what_libraries_print_or_read_stays_off_the_pipes() -> None:
    result = subprocess.run((sys.executable, "-c", SCRIPT), input=b"job", capture_output=True, check=True)
    assert (result.stdout, result.stderr) == (b"frame job", b"")


def test_litellm_fetches_no_lists_and_reads_no_file() -> None:
    environ: dict[str, str] = {"LITELLM_LOG": "DEBUG", "LITELLM_MODE": "DEV"}
    prepare_environment(environ)
    assert environ["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
    assert environ["LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS"] == "True"
    assert environ["LITELLM_MODE"] == "PRODUCTION"
    assert "LITELLM_LOG" not in environ


def test_an_empty_key_is_no_key() -> None:
    environ = {"OPENAI_API_KEY": " ", "GROQ_API_KEY": "gsk", "EMPTY": ""}
    prepare_environment(environ)
    assert "OPENAI_API_KEY" not in environ
    assert (environ["GROQ_API_KEY"], environ["EMPTY"]) == ("gsk", "")


def test_servers_of_this_machine_are_asked_without_a_proxy() -> None:
    environ = {"NO_PROXY": "intranet"}
    prepare_environment(environ)
    assert environ["NO_PROXY"] == "intranet,localhost,127.0.0.1,::1"
    assert environ["no_proxy"] == "localhost,127.0.0.1,::1"
