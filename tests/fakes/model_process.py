"""A model process without litellm, for tests of how the program deals with one: the first argument says how it behaves.

It writes the frames by hand, so that it is a second opinion on their form.
"""

import json
import os
import sys


def send(number: int, event: str | None, **data: object) -> None:
    """Write a frame. Without an event, it says that a job was cancelled."""
    sys.stdout.write(json.dumps({"id": number, "event": event and {"type": event, **data}}) + "\n")
    sys.stdout.flush()


def main(behaviour: str) -> None:
    """Answer each job with its last message, or fail in the way that `behaviour` names."""
    if behaviour == "absent":
        sys.exit(1)
    for line in sys.stdin:
        frame = json.loads(line)
        number, job = frame["id"], frame["job"]
        if job is None:
            if behaviour != "deaf":
                send(number, None)
            continue
        if job["operation"] == "describe":
            send(number, "ResolvedModel", model="fake/model", provider="fake", window_tokens=9_000, can_call_tools=True)
            continue
        text = job["request"]["messages"][-1]["text"]
        if behaviour == "crash":
            os._exit(1)
        send(number, "TextDelta", text=text)
        if behaviour == "crash later":
            os._exit(1)
        if behaviour == "give up":
            send(number, None)
            continue
        if behaviour == "babble":
            sys.stdout.write("INFO: this is no frame\n" * 9)
            sys.stdout.flush()
        if behaviour in ("deaf", "slow") and text != "be quick":
            continue
        send(number, "ReplyFinished", reason="stop")


if __name__ == "__main__":
    main(sys.argv[1])
