from __future__ import annotations

import asyncio
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.models.worker.frames import BrokenFrameError, encode_frame, read_frame, receive_frame

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=())),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=8,
)
frames = st.dictionaries(st.text(), json_values)


async def receive_all(data: bytes) -> list[object]:
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    received: list[object] = []
    while (frame := await receive_frame(reader)) is not None:
        received.append(frame)
    return received


@given(st.lists(frames, max_size=4))
def test_frames_come_back_from_either_kind_of_pipe(sent: list[dict[str, object]]) -> None:
    data = b"".join(encode_frame(frame) for frame in sent)
    pipe = io.BytesIO(data)
    assert [read_frame(pipe) for _ in sent] == sent
    assert read_frame(pipe) is None
    assert asyncio.run(receive_all(data)) == sent


@pytest.mark.parametrize("length", [1, 3, 5, 9])
def test_a_cut_frame_is_the_end(length: int) -> None:
    data = encode_frame({"text": "half"})[:length]
    assert read_frame(io.BytesIO(data)) is None
    assert asyncio.run(receive_all(data)) == []


@pytest.mark.parametrize("data", [b"INFO: no frame", b"\x00\x00\x00\x02{]", b"\x00\x00\x00\x02[]"])
def test_what_is_no_frame_is_refused(data: bytes) -> None:
    with pytest.raises(BrokenFrameError):
        read_frame(io.BytesIO(data))
    with pytest.raises(BrokenFrameError):
        asyncio.run(receive_all(data))
