"""The fake OpenAI server as a program: ``python -m tests.benchmarks.fake_provider ID...`` prints its address.

Every request but each tenth is answered with a call that opens the next two of the ids, the tenth with text.
"""

from __future__ import annotations

import json
import sys
from itertools import count

from typing_extensions import override

from tests.fakes.http_server import FakeReply, RecordedRequest
from tests.fakes.openai_server import FakeOpenAIServer

STEPS = 10
_CHUNK = 16


class EndlessServer(FakeOpenAIServer):
    """Never runs out of replies."""

    def __init__(self, ids: list[str]) -> None:
        super().__init__()
        self._ids = ids
        self._numbers = count(1)

    @override
    def take_reply(self, request: RecordedRequest) -> FakeReply:
        number = next(self._numbers)
        if number % STEPS == 0:
            return FakeReply(text=f'It says "words" [{self._ids[0]}]. ' * 2, chunk_size=_CHUNK)
        first = 2 * number % len(self._ids)
        arguments = json.dumps({"section_ids": self._ids[first : first + 2]})
        return FakeReply(text="Let me look.", calls=(("expand_sections", arguments),), chunk_size=_CHUNK)


def main() -> None:
    """Serve until standard input ends."""
    with EndlessServer(sys.argv[1:]) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
