"""Terms of questions, and where a text has them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.search.languages import Language
from roamtui.search.terms import (
    TERMS_MAX,
    find_forms,
    find_identifiers,
    find_names,
    find_terms,
    fold,
    list_compounds,
    list_starts,
    query_terms,
    space_out,
    split_camel_case,
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How do I use getUserById with --flag-name?", ("use", "getuserbyid", "--flag-name")),
        ("What is the max_tokens limit?", ("max_tokens", "limit")),
        ("C++ and C# and std::vector", ("c++", "c#", "std::vector")),
        ("import a.b.c", ("import", "a.b.c")),
        ("§ 4.2, please", ("4.2", "please")),
        ("call ray.data.map_batches() twice", ("call", "ray.data.map_batches", "map_batches", "twice")),
        ("what does __init__ do", ("__init__",)),
        ("why doesn't Ray's actor die", ("ray", "actor", "die")),
        ("e.g. this", ("e.g", "this")),
        ("How many senators has a state?", ("senators", "state")),
        ("how-to: many boats", ("many", "boats")),
        ("What is it?", ("what", "is", "it")),
        ("Café CAFE", ("cafe",)),
        ("数据库 index", ("数据", "据库", "index")),
        ("हिन्दी", ("हिन्दी",)),
        ("ＡＢＣ", ("abc",)),
        ("!?*", ()),
        ("", ()),
    ],
)
def test_query_terms(question: str, expected: tuple[str, ...]) -> None:
    assert query_terms(question) == expected


def test_a_pasted_text_is_cut() -> None:
    assert len(query_terms(" ".join(f"word{number}" for number in range(1_000)))) == TERMS_MAX


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("getUserById", ["get", "User", "By", "Id"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("AccelerateTrainer", ["Accelerate", "Trainer"]),
        ("Trainer", []),
        ("HTTP", []),
        ("plain", []),
        ("iOS", []),
    ],
)
def test_camel_case(word: str, expected: list[str]) -> None:
    assert split_camel_case(word) == expected


def test_identifiers_keep_their_marks_and_parts() -> None:
    text = "Set `max_tokens`, .env and $HOME; see a.b_c.d. A state-of-the-art -x, _, end."

    assert find_identifiers(text) == ["max_tokens", ".env", "$HOME", "a.b_c.d", "b_c", "-x"]


def test_names_are_identifiers_and_camel_case() -> None:
    assert find_names("A TorchTrainer takes max_tokens.") == {"torchtrainer", "max_tokens"}


def test_words_match_by_their_stem() -> None:
    text = "Installing takes a while. The installer was installed."

    assert find_terms(text, ["install"]) == [(0, "install"), (30, "install"), (44, "install")]


def test_a_word_inside_another_is_not_found() -> None:
    assert find_terms("A catalog of dialogs.", ["log"]) == []


def test_parts_of_names_are_found() -> None:
    text = "Call getUserById or user_name."

    assert find_terms(text, ["user"]) == [(8, "user"), (20, "user")]


def test_a_name_at_the_start_of_camel_case_is_found() -> None:
    assert find_terms("userName", ["user"]) == [(0, "user")]


def test_identifiers_match_as_a_whole_in_any_case() -> None:
    text = "Max_Tokens, max_tokens_total and C++, not C."

    assert find_terms(text, ["max_tokens", "c++"]) == [(0, "max_tokens"), (33, "c++")]


@pytest.mark.parametrize("text", ["Das Café hat offen.", "Das cafe\u0301 hat offen."])
def test_accents_do_not_matter(text: str) -> None:
    assert find_terms(text, ["cafe"]) == [(4, "cafe")]


def test_pairs_of_characters_are_found_without_spaces() -> None:
    assert find_terms("这是数据库。", ["数据", "据库"]) == [(2, "数据"), (3, "据库")]


def test_spacing_out_leaves_other_writing_alone() -> None:
    assert space_out("ab 数据 é") == "ab  数  据  é"


@given(st.text())
def test_any_text_is_a_question(text: str) -> None:
    terms = query_terms(text)

    assert len(set(terms)) == len(terms)
    assert all(terms)


@given(st.text(), st.lists(st.sampled_from(["one", "max_tokens", "c++", "数据", "é", "(", "-x"])))
def test_terms_are_found_in_order_within_the_text(text: str, terms: list[str]) -> None:
    found = find_terms(text, terms)

    assert found == sorted(found)
    assert all(0 <= offset < len(text) for offset, _ in found)


@given(st.text("abAB_.-:+# é数"))
def test_folding_is_stable(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_a_question_in_another_language_loses_its_own_small_words() -> None:
    assert query_terms("Wie lange ist die Frist für den Käufer?") == ("frist", "kaufer")
    assert query_terms("Quelle est la durée de la garantie ?") == ("duree", "garantie")
    assert query_terms("¿Cuál es el plazo de entrega?") == ("plazo", "entrega")
    assert query_terms("Who was the man in the war?") == ("man", "war")
    assert query_terms("When do the heirs die?") == ("heirs", "die")


def test_a_text_holds_other_forms_of_a_word() -> None:
    text = "Er wird auf fünf Jahre gewählt; wählbar ist jeder. Die Wahl wählt."
    assert find_forms(text, ("wahlt",), Language.GERMAN) == {"gewahlt": "wahlt", "wahlbar": "wahlt", "wahl": "wahlt"}


def test_english_has_a_stemmer_for_that() -> None:
    assert find_forms("elections elect", ("elected",), Language.ENGLISH) == {}
    assert list_starts(("elected",), Language.ENGLISH) == []


def test_pairs_of_characters_and_identifiers_have_no_forms() -> None:
    assert find_forms("借期 max_tokens", ("借期", "max_token"), Language.GERMAN) == {}


def test_starts_are_roots_and_participles() -> None:
    assert list_starts(("wahlt", "amt"), Language.GERMAN) == ["wahl", "gewahl"]
    assert list_starts(("congelar",), Language.SPANISH) == ["congel"]


def test_a_compound_is_divided_between_its_words() -> None:
    assert ("liegeplatz", "gebuhr") in list_compounds("liegeplatzgebuhr")
    assert ("zahlung", "frist") in list_compounds("zahlungsfrist")
    assert list(list_compounds("kurz")) == []
