"""Ids in texts: which forms are marks, and what only looks like an id."""

import pytest

from roamtui.outline.ids import iter_id_marks, strip_id_marks

ID, OTHER, UNKNOWN = "57a071b0", "a8a96034", "20240101"
FORMS = [
    *("[{}]", "[{}:2]", "({})", "【{}】", "［{}］", r"\[{}\]", "<{}>", "`{}`", "`[{}]`", "([{}])", "[^{}]", '["{}"]'),
    *("[section {}]", "[{}, page 2]", "[{} – 12345678 items]", "【{}†source】", "[{}, a8a96034]", "({}, a8a96034)"),
]


@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_an_id_is_one_mark_if_the_section_exists(form: str) -> None:
    for written in (ID, ID.upper()):
        text = f"It is due {form.format(written)}, they say."
        (mark,) = iter_id_marks(text, {ID, OTHER})
        assert mark.section_ids[0] == ID
        assert text[mark.start : mark.end] == form.format(written).removeprefix("([").removesuffix("])") or (
            text[mark.start : mark.end] == f"[{written}]"
        )


@pytest.mark.parametrize("form", FORMS)
def test_what_names_no_section_is_a_mark_only_in_plain_brackets(form: str) -> None:
    text = f"It is due {form.format(UNKNOWN)}, they say."
    marks = [mark for mark in iter_id_marks(text, {ID}, lambda _: True) if UNKNOWN in mark.section_ids]
    assert len(marks) == (form in ("[{}]", "[{}:2]", "([{}])"))
    assert not list(iter_id_marks(text, {ID}, lambda _: False))


@pytest.mark.parametrize(
    "text", ["https://a.example/57a071b0", "me@57a071b0", "v57a071b0", "57a071b0f", "57a071b0.5", "it is [57a071b0"]
)
def test_an_id_inside_another_word_is_no_mark(text: str) -> None:
    assert [*iter_id_marks(text, {ID})] == []


def test_only_ids_of_sections_are_taken_out_of_a_quote() -> None:
    assert strip_id_marks(f"Rent [{ID}] of entry [{UNKNOWN}]", {ID}) == f"Rent of entry [{UNKNOWN}]"
