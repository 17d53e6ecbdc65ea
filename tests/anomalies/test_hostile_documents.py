"""Whatever a document holds, every command shows it, or refuses it in a sentence."""

import random
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.anomalies.terminal_output import use_every_command
from tests.real_documents import find_data_dir, list_documents

QUESTION = "What is the heading about?"
_HOSTILE = (
    *(b"\x1b]0;title\x07", b"\x1b[2J\x1b[31m", b"\x9b31m", b"\xc2\x9b31m"),
    *(b"\x00", b"\x07\x08\x7f", b"\r", b"\xff\xfe"),
    *("\u202e\u2066".encode(), "\u2028\u2029\x85".encode(), b"[/red][@click=app.quit]", b"# " * 40, b"> " * 300),
    *(b"\n```\n", b"\n~~~", b"<!--", b"-->", b"<pre>", b"\n---\n", b"\n===\n", b"\n[a]: /u\n", b"| a |\n|---|\n"),
    *(b"- " * 120, b"\n\n# \n\n", b"\xed\xa0\x80", b"\xf0\x9f\x92\xa9" * 9, b"a" * 9_000, b'"quoted" [deadbeef] '),
    *(b'<!-- Section collapsed - expand with expand_sections(["deadbeef"]) -->', b"<<<a1b2c3d4\n", b"\t" * 90),
)
_LENGTH_MAX = 20_000


@lru_cache(maxsize=64)
def _read(name: str) -> bytes:
    return (find_data_dir() / name).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", list_documents("adversarial/files/*"))
def test_every_command_takes_every_hostile_file(name: str) -> None:
    use_every_command(str(find_data_dir() / name), QUESTION)


@pytest.mark.slow
@pytest.mark.skipif(not find_data_dir().is_dir(), reason="No real documents here: set ROAMTUI_DATA.")
@settings(max_examples=max(1, settings().max_examples // 4))
@given(st.integers(0, 2**64))
def test_every_command_takes_any_mutation_of_them(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    names = list_documents("adversarial/files/*", "spec/*.json", "llms/files/*")
    path = tmp_path_factory.getbasetemp() / "mutation.md"
    path.write_bytes(_mutate([*names], random.Random(seed)))  # noqa: S311 - a test that can be run again
    use_every_command(str(path), QUESTION)


def _mutate(names: list[str], chance: random.Random) -> bytes:
    """Return a piece of some file, changed in a few places, perhaps with a piece of another one inside."""
    content = bytearray(_cut(_read(chance.choice(names)), chance))
    for _ in range(chance.randint(1, 8)):
        start, end = sorted(chance.randint(0, len(content)) for _ in range(2))
        match chance.randint(0, 5):
            case 0:
                del content[start:end]
            case 1:
                content[start:start] = content[start : min(end, start + 2_000)] * chance.randint(1, 3)
            case 2 | 3:
                content[start:start] = chance.choice(_HOSTILE)
            case 4:
                content[start : start + 8] = chance.randbytes(8)
            case _:
                content[start:start] = _cut(_read(chance.choice(names)), chance)[:2_000]
    return bytes(content[: 2 * _LENGTH_MAX])


def _cut(content: bytes, chance: random.Random) -> bytes:
    start = chance.randint(0, max(0, len(content) - _LENGTH_MAX))
    return content[start : start + _LENGTH_MAX]
