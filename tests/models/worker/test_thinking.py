from __future__ import annotations

import json

from roamtui.models.worker.thinking import ThinkingAssembler


def assemble(*pieces: dict[str, object]) -> str:
    assembler = ThinkingAssembler()
    for piece in pieces:
        assembler.add([piece])
    return assembler.finish()


def think(text: str, signature: str | None = None) -> dict[str, object]:
    block: dict[str, object] = {"type": "thinking", "thinking": text}
    return block | ({"signature": signature} if signature else {})


def test_pieces_are_joined_until_the_signature() -> None:
    blocks = json.loads(assemble(think("one "), think("two"), think("", "s1"), think("three"), think("", "s2")))
    assert blocks == [think("one two", "s1"), think("three", "s2")]


def test_the_whole_text_may_come_again_with_the_signature() -> None:
    assert json.loads(assemble(think("one "), think("two"), think("one two", "s"))) == [think("one two", "s")]


def test_a_block_may_come_whole() -> None:
    assert json.loads(assemble(think("one", "s1"), think("one", "s2"))) == [think("one", "s1"), think("one", "s2")]


def test_redacted_blocks_keep_their_place() -> None:
    redacted: dict[str, object] = {"type": "redacted_thinking", "data": "opaque"}
    assert json.loads(assemble(think("one", "s"), redacted)) == [think("one", "s"), redacted]


def test_nothing_is_kept_of_unsigned_thoughts() -> None:
    assert assemble(think("only aloud")) == ""
    assert assemble() == ""
