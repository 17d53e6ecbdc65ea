"""Languages of questions: what tells one, which words say nothing in it or only ask, what forms of a word share.

English is read by its stemmer and needs no roots. All words are folded.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import StrEnum
from functools import lru_cache

_HIRAGANA = "\u3041-\u309f"
_QUANTITY = re.compile(
    r"\bhow\s+(?:big|deep|early|far|fast|frequently|high|large|late|long|many|much|often|old|quickly|small|soon|tall"
    r"|wide)\b"
    r"|\bwie\s*(?:alt|gro(?:ß|ss)|häufig|hoch|lange?|oft|teuer|viele?[nr]?|weit)\b"
    r"|\b(?:pendant\s+)?combien\s+de\s+(?:temps|fois)\b"
    r"|\bcu[aá]nt[oa]s?\s+(?:tiempo|veces)\b",
    re.IGNORECASE,
)
"""Asks for a number; its second word seldom stands where the number does."""
_EVENT = re.compile(r"\bwhat\s+(?:will\s+|would\s+)?happen(?:s|ed)?\b", re.IGNORECASE)
"""Asks for what follows from something; where that is told, nothing "happens"."""
_FIRST_WORD = re.compile(r"\w+")
_HAS_UNSPACED = re.compile("[\u3041-\u30ff\u3400-\u9fff]")
_CHINESE = re.compile(
    "请问|什么时候|是什么|什么|多少|多久|多长时间|多长|怎么办|怎么样|怎么|怎样|如何|为什么|为何|(?:在|有)?哪(?:里|儿|些|个|种)?"
    "|是不是|能不能|可不可以|可以|能否|是否|有没有|需要|应该|[吗呢吧啊谁几的了是我你您把]"
)
_JAPANESE = re.compile(
    "(?:あり|い|し|でき)?(?:ますか|ませんか|ましたか)|でしょうか|ですか|ください|ます|です|どこ|いつ|いくら|いくつ|どのくらい"
    "|どのように|どうすれば|どうやって|どう|なぜ|どれ|なに|何"
)
_PARTICLE = re.compile(
    rf"(?<=[^\s{_HIRAGANA}])(?:から|まで|より|には|では|とは|にも|は|が|を|に|で|と|も|の|へ|か|や)+(?![{_HIRAGANA}])"
)
_HIRAGANA_WORD = re.compile(f"[{_HIRAGANA}]")


class Language(StrEnum):
    """A language that a question can be in; English stands for all that are not told apart."""

    ENGLISH = "en"
    GERMAN = "de"
    FRENCH = "fr"
    SPANISH = "es"


_ENGLISH = """
a about am an and another any are as at be been both but by can certain could did do does each either etc for from had
has have how i if in into is it its me my neither no not of on one ones or other others our per shall should so such
than that the their them then there these they this those to us via was we were what when where whether which while who
whom whose why will with would you your e.g i.e
"""
_GERMAN = """
aber als am an auch auf aus bei beim bin bis da dabei damit dann darf darfst das dass dem den denn der des deren dessen
die dies diese diesem diesen dieser dieses durch durfen ein eine einem einen einer eines er es etwa fur gibt habe haben
hat ich ihm ihn ihr ihre ihrem ihren im in ist ja jede jedem jeden jeder jedes kann kannst konnen konnte man mein meine
meinem meinen meiner mich mir mit mochte muss mussen nach nicht noch nur ob oder passiert sein seine seinem seinen sich
sie sind so soll sollen sollte tun uber um und uns unser unsere unter vom von vor wann war waren warum was wegen weil
welche welchem welchen welcher welches wem wen wenn wer werde werden wessen wie wieviel wieviele wir wird wo wofur woher
wohin womit worden wozu wurde wurden zu zum zur
"""
_FRENCH = """
a ai as au aux avec avoir c ce ces cette ceux chez combien comment d dans de des dois doit doivent du elle elles en est
et etre eu faire fait faut il ils j je l la laquelle le lequel les leur lui m ma mais me mes mon n ne nos notre nous on
ont ou par pas peut peuvent peux pour pourquoi puis qu quand que quel quelle quelles quels qui quoi s sa se ses si son
sont sur t ton tu un une va vos votre vous y
"""
_SPANISH = """
a al como con cual cuales cuando cuanta cuantas cuanto cuantos de debe debo deben del desde donde el ella ellos en entre
es esta estan este esto ha hace hacer han hasta hay la las le les lo los mas me mi mis no nos o para pero por porque
pueda puede pueden puedo que quien quienes se ser si sin sobre son su sus tengo tiene tienen tu un una uno unos unas y
"""
_WORDS = {
    Language.ENGLISH: frozenset(_ENGLISH.split()),
    Language.GERMAN: frozenset(_GERMAN.split()),
    Language.FRENCH: frozenset(_FRENCH.split()),
    Language.SPANISH: frozenset(_SPANISH.split()),
}
STOP_WORDS = _WORDS[Language.ENGLISH]
"""English words that say nothing of what is looked for."""
_ASKING_GERMAN = """
darf gibt ist kann konnen muss sind wann warum welche welchem welchen welcher welches wem wen wenn wer wessen wie
wieviel wo woher wohin womit wozu
"""
_ASKING_FRENCH = """
combien est peut peux pourquoi puis quand quel quelle quelles quels qui quoi sont
"""
_ASKING_SPANISH = """
como cual cuales cuando cuanta cuantas cuanto cuantos donde hay puede puedo quien quienes
"""
_ASKING = {
    Language.GERMAN: frozenset(_ASKING_GERMAN.split()),
    Language.FRENCH: frozenset(_ASKING_FRENCH.split()),
    Language.SPANISH: frozenset(_ASKING_SPANISH.split()),
}
"""Words with which questions begin, and which English has not: one of them alone tells the language."""
_FOREIGN_MIN = 2
"""Other words of a language alone that tell it."""
_MEANING_SOMETHING = """
also bin c comment d die es eu fait hat j l la m man me mi mit n no on par s ser si son sur t ton tu va war y
"""
EMPTY_WORDS = frozenset().union(*_WORDS.values()) - (frozenset(_MEANING_SOMETHING.split()) - STOP_WORDS)
"""Words that say nothing in any of the languages, those that mean something in English apart."""
FOLLOW_UP_STARTS = (
    *("und ", "oder ", "aber ", "et ", "mais ", "y ", "¿y ", "pero ", "¿pero "),
    *("那", "还有", "それ", "では", "じゃあ"),
)
"""How questions that go on from the one before begin, in lower case."""
_POINTING = """
er ihn ihm dafür davon dazu darin daran dies diese dieser dieses deren dessen elle elles ils cela ça celui celle ceux
celles ello eso esa ese esto él ella ellos ellas
"""
POINTING_WORDS = frozenset(_POINTING.split())
"""Words that stand for what was named before, in lower case."""

_ROOT_MIN = 4
"""Letters."""
_PARTICIPLE = re.compile(r"ge(?=\w{3,}(?:t|te|en|ten|ter|tes|ne|nen)\Z)")
_ENDINGS = {
    Language.GERMAN: (
        "barkeit", "igkeiten", "igkeit", "lichkeit", "ungen", "ung", "keiten", "keit", "heiten", "heit", "lichen",
        "licher", "liches", "liche", "lich", "bare", "baren", "barer", "bar", "erinnen", "erin", "esten", "este", "ern",
        "ers", "est", "ten", "tes", "ter", "tem", "te", "en", "er", "em", "es", "et", "st", "e", "n", "s", "t",
    ),
    Language.FRENCH: (
        "issements", "issement", "ations", "ation", "ements", "ement", "ateurs", "ateur", "atrice", "itions", "ition",
        "euses", "euse", "antes", "ante", "ants", "ant", "ables", "able", "aient", "eurs", "eur", "ions", "ees", "aux",
        "ent", "ait", "ais", "ee", "es", "er", "ez", "al", "is", "it", "ir", "re", "ie", "e", "s", "i",
    ),
    Language.SPANISH: (
        "amientos", "amiento", "imientos", "imiento", "aciones", "acion", "iciones", "icion", "adores", "ador", "adora",
        "amente", "mente", "iendo", "ando", "adas", "ados", "idas", "idos", "ada", "ado", "ida", "ido", "aron", "eron",
        "aban", "aba", "ara", "ales", "al", "an", "en", "ar", "er", "ir", "as", "os", "es", "a", "o", "e", "s",
    ),
}  # fmt: skip
"""The longest first where one ends with another."""


def find_language(words: Collection[str]) -> Language:
    """Return the language of a question; English where it is not clearly another."""
    words = frozenset(word for word in words if len(word) > 1)
    best = max(_ASKING, key=lambda language: len(words & _WORDS[language]))
    found, english = words & _WORDS[best], (words & STOP_WORDS) - _WORDS[best]
    alone = found - STOP_WORDS
    is_told = len(alone) >= _FOREIGN_MIN or bool(alone & _ASKING[best])
    return best if is_told and len(alone) > len(english) else Language.ENGLISH


def list_stop_words(language: Language) -> frozenset[str]:
    """Return the words of a language that say nothing of what is looked for."""
    return _WORDS[language]


@lru_cache(maxsize=1 << 14)
def find_root(word: str, language: Language) -> str:
    """Return what the forms of a word share, such as ``wahl`` of ``gewahlt``; English words come back as they are."""
    if language is Language.ENGLISH:
        return word
    if language is Language.GERMAN:
        word = _PARTICIPLE.sub("", word)
    for ending in _ENDINGS[language]:
        if word.endswith(ending) and len(word) - len(ending) >= _ROOT_MIN:
            return word[: -len(ending)]
    return word


def strip_asking(question: str) -> str:
    """Return a question without the words that only ask."""
    question = _EVENT.sub(_keep_first, _QUANTITY.sub(_keep_first, question))
    if _HAS_UNSPACED.search(question) is None:
        return question
    if _HIRAGANA_WORD.search(question):
        return _PARTICLE.sub(" ", _JAPANESE.sub(" ", question))
    return _CHINESE.sub(" ", question)


def _keep_first(match: re.Match[str]) -> str:
    """Return the first word of a phrase, which says nothing and holds its place."""
    found = _FIRST_WORD.match(match.group())
    return found.group() if found else " "
