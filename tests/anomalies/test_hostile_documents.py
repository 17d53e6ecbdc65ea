"""Whatever a document holds, every command shows it, or refuses it in a sentence."""

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


@pytest.mark.slow
@pytest.mark.parametrize("name", list_documents("adversarial/files/*"))
def test_every_command_takes_every_hostile_file(name: str) -> None:
    use_every_command(str(find_data_dir() / name), QUESTION)


@pytest.mark.slow
@settings(max_examples=max(1, settings().max_examples // 4))
@given(st.lists(st.sampled_from(_HOSTILE), max_size=12))
def test_every_command_takes_any_mix_of_hostile_bytes(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]
) -> None:
    path = tmp_path_factory.getbasetemp() / "mix.md"
    path.write_bytes(b"# Heading\n\nIt is about boats.\n" + b"".join(pieces))
    use_every_command(str(path), QUESTION)
