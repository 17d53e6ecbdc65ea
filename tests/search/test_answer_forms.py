"""What answers a question for a number, a time, an age or a price."""

from __future__ import annotations

import pytest

from roamtui.search.words import find_answer_form, list_implied


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("How many plots are there?", "There are twelve.", "There are some."),
        ("How old must a senator be?", "of the Age of thirty Years", "elected for six years"),
        ("Wie alt muss man sein?", "das vierzigste Lebensjahr vollendet", "mindestens drei Räte"),
        ("How long does it last?", "It lasts two weeks.", "It costs 12 euros."),
        ("Wie lange dauert das Amt?", "Es dauert fünf Jahre.", "Es kostet 5 Euro."),
        ("Combien de temps dure-t-il ?", "Il dure 45 minutes.", "Il a 8 kg."),
        ("¿Cuánto tiempo se cuece?", "Se cuece dieciocho minutos.", "Lleva 6 huevos."),
        ("When do I get paid?", "on the 25th of May", "to your account"),
        ("Wann wird gezahlt?", "am 1. April", "auf das Konto"),
        ("图书馆几点开门？", "上午九点开放", "不开放"),
        ("チェックインは何時からですか", "午後三時から", "フロントで"),
        ("Was kostet ein Platz?", "310 Euro", "ein Platz"),
        ("彩色打印多少钱？", "每页一元", "在二楼"),
    ],
)
def test_an_answer_has_the_form_that_is_asked_for(question: str, answer: str, other: str) -> None:
    form = find_answer_form(question)
    assert form is not None
    assert form.search(answer)
    assert not form.search(other)


@pytest.mark.parametrize("question", ["Who pays?", "Where is it?", "Is it free?", ""])
def test_other_questions_want_no_form(question: str) -> None:
    assert find_answer_form(question) is None


def test_how_old_implies_words_for_age() -> None:
    assert "age" in list_implied("How old must a senator be?")
    assert list_implied("How many senators are there?") == ()
