"""English words whose forms no stemmer brings together: who asks what happens when you "lose" a key reads "lost keys".

Forms that are better known as other words ("saw", "left", "found", "felt") are not among them, nor words that say
little of a subject ("make", "give", "take").
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_FORMS = """
analysis analyses
appendix appendices
arise arose arisen
begin began begun
bend bent
bleed bled
blow blew blown
break broke broken
breed bred
build built
burn burnt
buy bought
catch caught
child children
choose chose chosen
criterion criteria
die died dying
dig dug
draw drew drawn
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
fight fought
fly flew flown
foot feet
forbid forbade forbidden
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
grow grew grown
half halves
hang hung
hear heard
hide hid hidden
knife knives
lend lent
lose lost loss
mouse mice
overcome overcame
pay paid
person people
ride rode ridden
sell sold
send sent
shake shook shaken
shelf shelves
shrink shrank shrunk
sink sank sunk
sleep slept
speak spoke spoken
spend spent
steal stole stolen
stick stuck
swear swore sworn
sweep swept
swim swam swum
teach taught
tear tore torn
thief thieves
throw threw thrown
tie tying
tooth teeth
understand understood
wake woke woken
wear wore worn
wife wives
win won
withdraw withdrew withdrawn
woman women
write wrote written
"""


def list_other_forms(word: str) -> tuple[str, ...]:
    """Return the other forms of a folded English word that its stem does not show, sorted; mostly none."""
    return _list_by_form().get(word, ())


@cache
def _list_by_form() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, set[str]] = defaultdict(set)
    for line in _FORMS.splitlines():
        forms = line.split()
        for form in forms:
            found[form].update(other for other in forms if other != form)
    return {form: tuple(sorted(others)) for form, others in found.items()}
