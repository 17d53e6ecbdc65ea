"""What is said while a question is answered."""

import pytest

from roamtui.conversation.events import (
    AnswerStreamed,
    QuestionAnswered,
    QuestionDropped,
    QuestionReceived,
    StepStarted,
    StopReason,
    ThinkingStreamed,
)
from roamtui.conversation.progress import ReplyProgress


def test_each_moment_of_a_question_has_its_words_and_long_ones_their_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("roamtui.conversation.progress.monotonic", lambda: now)
    progress = ReplyProgress()
    assert not progress.is_running
    said: list[str] = []
    for event, seconds in (
        (QuestionReceived(question="How much?", starts_model=True), 6.2),
        (StepStarted(number=1, input_tokens=1_300), 35.0),
        (ThinkingStreamed(text="The fees are in Fees. " * 40), 1.0),
        (AnswerStreamed(text="Two euros a day. " * 10), 1.0),
        (AnswerStreamed(text="It is"), 12.0),
        (StepStarted(number=2, input_tokens=1), 1.0),
    ):
        progress.handle_event(event)
        now += seconds
        said.append(progress.describe())
        assert progress.is_running
    assert said[:2] == ["getting ready to ask · 6 s", "reading 1.3k tokens · 35 s"]
    assert said[2].startswith("thinking · ")
    assert said[3].startswith("writing · ")
    assert said[3].endswith(" tokens")
    assert said[4].endswith(" tokens · 12 s"), "the stream has stalled"
    assert said[5] == "reading 1 token"
    progress.handle_event(QuestionAnswered(answer="Two euros.", stopped=StopReason.ANSWERED))
    assert not progress.is_running


def test_a_question_that_is_stopped_before_it_is_asked_ends_its_words() -> None:
    progress = ReplyProgress()
    progress.handle_event(QuestionReceived(question="How much?"))
    assert progress.describe() == "searching"
    progress.handle_event(QuestionDropped())
    progress.handle_event(AnswerStreamed(text="late"))
    assert not progress.is_running
