"""Sentences end where a reader sees their end."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.sentences import FILLER, iter_sentence_ends

_DIVIDED = [
    "Shares that vest before Jan. 5 are exempt. | See cl. 4 and Sched. 3 of the lease of Feb. 3. | Pay it.",
    "The fee is 5 euros. | 20 people paid it.",
    "The fee is 5 euros.1 | The fine is 10 euros.",
    "The fee is 5 euros.¹ | The fine is 10 euros.",
    "The fee is 5 euros.[1] | The fine is 10 euros.",
    "The fee is 5 euros.[^k] | The fine is 10 euros.",
    "The fee is 5 euros.|The fine is 10 euros.",
    "The fee is 5 euros… | The fine is 10 euros.",
    f"The fee is 5 euros. {FILLER * 10} | The fine is 10 euros {FILLER * 10}. | Pay it.",
    "Der Anspruch aus § 5 Abs. 2 S. 1 verjährt, z. B. bei Mängeln oder z. B. Rissen. | Er verjährt nie.",
    "Utilities (e.g. water, gas. And more) are due. | Pay them.",
    "(See section 3. It applies.) | The tenant pays.",
    "The premium is 1,250.50 dollars a year. | It is due at 10 a.m. on weekdays.",
    "It opens at 10 a.m. | Admission is free.",
    "The U.S. Treasury paid Mr. J. K. Smith of Apple Inc. | The rest is due.",
    "see No. 12 and No.1 The rest of 1.1 The end of 2020.1 All",
    "Am 3. Oktober 2020 nach dem 2. Mai. | Es endet.",
    "1. Preheat the oven to 5. | § 7. Confidentiality is due. | A.1 The lessor pays.",
    "a) The rent (See section 3. It applies.) is due. | He agrees.",
    "Use System.Console, asp.net, v2.0-beta.3, java.util.List and Node.js. | Then use .NET.",
    "“Stop!” he said. | He said “Stop.” | The man left.",
    "Quoi ? ! | Oui !? | Non. . . . | Et . . . Voilà […] Bien [...] Fin",
    "किराया आठ हज़ार रुपये है। | जमा राशि बीस हज़ार है।",
    "租赁期限六个月以上的。|当事人「好。」|他说。",
    "He paid\n\nfive euros.|\n\nThe rest|  \nIs due  \nto us.",
]


@pytest.mark.parametrize("divided", _DIVIDED)
def test_a_sentence_ends_where_a_reader_sees_its_end(divided: str) -> None:
    text = divided.replace("|", "")
    ends = (0, *iter_sentence_ends(text), len(text))
    found = [text[start:end].strip() for start, end in pairwise(ends)]
    assert found == [sentence.strip() for sentence in divided.split("|")]


@given(st.text(alphabet="aB1 .!?…。()[]\n*“”^¹ \ufffc", max_size=60))
def test_sentences_are_in_order_and_not_empty(text: str) -> None:
    ends = [0, *iter_sentence_ends(text), len(text)]
    assert all(text[start:end].strip() for start, end in pairwise(ends[:-1]))
    assert ends == sorted(ends)
