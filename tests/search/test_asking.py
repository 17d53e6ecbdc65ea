"""What of a question only asks."""

from __future__ import annotations

import pytest

from roamtui.search.terms import query_terms


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("How old must a senator be?", ("must", "senator")),
        ("Wie hoch ist die Gebühr?", ("gebuhr",)),
        ("Ab wann gilt das Gesetz?", ("ab", "gilt", "gesetz")),
        ("Combien de temps dure le lavage ?", ("dure", "lavage")),
        ("¿Cuánto tiempo se cuece el arroz?", ("cuece", "arroz")),
        ("借期是多少天？", ("借期", "天")),
        ("打印机在哪里？", ("打印", "印机")),
        ("门票多少钱？", ("门票", "钱")),
        ("門限は何時ですか", ("門限", "時")),
        ("朝食はどこで食べますか？", ("朝食", "で食", "食べ")),
        ("多少？", ("多少",)),
        ("どこですか", ("どこ", "こで", "です", "すか")),
    ],
)
def test_words_that_only_ask_are_not_looked_for(question: str, terms: tuple[str, ...]) -> None:
    assert query_terms(question) == terms
