from __future__ import annotations

import pytest

from roamtui.conversation.transcript import ToolCall
from roamtui.models.worker.calls import CallAssembler

Piece = tuple[int, str | None, str | None, str | None]


def assemble(*pieces: Piece, taken_ids: tuple[str, ...] = ()) -> tuple[ToolCall, ...]:
    assembler = CallAssembler(taken_ids)
    for index, call_id, name, arguments in pieces:
        assembler.add(index=index, id=call_id, name=name, arguments=arguments)
    return assembler.finish()


def test_pieces_of_two_calls_may_alternate() -> None:
    calls = assemble(
        (0, "a", "expand", ""),
        (1, "b", "search", ""),
        (0, None, None, '{"x":'),
        (1, None, None, '{"y":'),
        (0, None, None, " 1}"),
        (1, None, None, " 2}"),
    )
    assert calls == (
        ToolCall(id="a", name="expand", arguments='{"x": 1}'),
        ToolCall(id="b", name="search", arguments='{"y": 2}'),
    )


def test_a_new_id_under_the_same_index_is_a_new_call() -> None:
    calls = assemble((0, "a", "expand", '{"x": 1}'), (0, "b", "expand", '{"x": 2}'))
    assert [(call.id, call.arguments) for call in calls] == [("a", '{"x": 1}'), ("b", '{"x": 2}')]


def test_id_and_name_may_be_repeated_with_each_piece() -> None:
    [call] = assemble((0, "a", "expand", '{"x"'), (0, "a", "expand", ": 1}"))
    assert call == ToolCall(id="a", name="expand", arguments='{"x": 1}')


def test_without_ids_a_name_after_whole_arguments_is_a_new_call() -> None:
    calls = assemble((0, None, "expand", '{"x": 1}'), (0, None, "expand", '{"x": 2}'))
    assert [call.arguments for call in calls] == ['{"x": 1}', '{"x": 2}']
    assert len({call.id for call in calls}) == 2


def test_without_ids_a_name_amid_arguments_is_no_new_call() -> None:
    [call] = assemble((0, None, "expand", '{"x"'), (0, None, "expand", ": 1}"))
    assert call.arguments == '{"x": 1}'


def test_an_id_may_come_late() -> None:
    [call] = assemble((0, None, "expand", ""), (0, "a", None, "{}"))
    assert call == ToolCall(id="a", name="expand", arguments="{}")


@pytest.mark.parametrize("wanted", ["a", "", None])
def test_ids_are_unique_in_the_conversation(wanted: str | None) -> None:
    calls = assemble((0, wanted, "expand", "{}"), (1, wanted, "expand", "{}"), taken_ids=("a",))
    ids = {call.id for call in calls}
    assert len(ids | {"a"}) == 3
    assert "" not in ids


def test_broken_arguments_pass_and_missing_ones_are_none() -> None:
    calls = assemble((0, "a", "expand", '{"x": ['), (1, "b", "expand", None))
    assert [call.arguments for call in calls] == ['{"x": [', "{}"]


def test_a_call_without_anything_is_none() -> None:
    assert assemble((0, "a", None, None), (1, "b", "", "")) == ()


def test_a_call_without_a_name_can_still_be_answered() -> None:
    [call] = assemble((0, "a", None, "{}"))
    assert call.name == "unnamed"
