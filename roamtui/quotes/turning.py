"""Words that turn the meaning of the words beside them, in the languages that documents are in."""

import re
from collections.abc import Container

_NEGATING_TEXT = """
not no never nor neither cannot nicht kein keine keinen keinem keiner nie niemals niet geen nooit inte ikke ej
aldrig aldri ne n pas jamais aucun aucune nunca jamás ningún ninguna ninguno tampoco non né nessun nessuna
nessuno não nem nenhum nenhuma nigdy żaden nikdy не нет никогда ни нельзя ei eivät koskaan nincs soha değil
hiç yok δεν μη μην ποτέ κανένα ούτε لا لم لن ليس ليست غير לא אין אינו אינה नहीं न मत 안 못
"""
"""Words that negate the words after them."""
_NEGATING_BEFORE_TEXT = """
not no never neither cannot nicht kein keine keinen nie niet geen inte ikke ej pas jamais değil yok नहीं
"""
"""Words that may also negate the words before them."""
_NEGATING_APART_TEXT = """
none nothing nobody without keines niemand ohne weder zonder utan uden uten sans rien ni sin senza sem bez без
ilman nélkül χωρίς بدون دون בלי ללא बिना
"""
"""Words that negate a sentence, but may stand before a name in it."""
_LIMITING_TEXT = """
except unless until subject provided only hardly barely außer ausser nur sofern behalve alleen tenzij utom
undtagen unntatt bara kun endast sauf seulement sinon salvo excepto solo sólo mai tranne eccetto soltanto
exceto só somente apenas nu fără decât tylko oprócz jen kromě кроме только крім лише vain paitsi csak kivéve
yalnızca hariç sadece εκτός μόνο إلا فقط ما רק אלא केवल सिवाय
"""
"""Words that limit what is said, and some that negate, but are other words in another language."""
_NEGATING = frozenset(_NEGATING_TEXT.split())
_NEGATING_BEFORE = frozenset(_NEGATING_BEFORE_TEXT.split())
_NEGATING_ANSWER = _NEGATING.union(_NEGATING_APART_TEXT.split())
_TURNING = _NEGATING_ANSWER.union(_LIMITING_TEXT.split())
_OTHER_SENSES = {
    "n": re.compile(r"\bn(?!['’\w])"),
    "no": re.compile(r"\bno\.? ?\d|\b(?:não|são|aos?|em|uma|das|pela|é|até|prazo|dias)\b"),
    "né": re.compile(r"\b(?:est|sont|était|fut)\b"),
    "ei": re.compile(r"\b(?:ein|eit|das|der|und|og|er|eg|dei|av|på|som|ved)\b"),
    "pas": re.compile(r"\b(?:un|ce|le|premier|chaque) pas\b"),
}
"""What stands near a negating word with another sense, as in "Rule No 7" or "no prazo" (in the term)."""
_DENYING = re.compile(
    r"(?:prohib|forbid|refus|declin|denie|deny|exclud|reject|prevent|waive|verbiete|verbot|untersag|verweiger"
    r"|ausgeschlossen|interdi(?:t|re|sent|ction)|exclu(?:[ert]|y|id|íd)|proib|rechaz|recus|vieta|rifiut|esclud)"
    r".*|exclus?|esclus[aeio]"
)
"""Verbs that deny what follows them, in all their forms."""
_ENDINGS = ("n't", "n’t", *"不没沒無无非未勿", "ไม่", "ห้าม")
"""Ends of a text that negate the next word, in languages that write them together with other words."""
_STARTS = ("ない", "なかった", "なけれ", "ず", "ません", "않", "못", "없", "아니", "ไม่")
"""Starts of a text that negate the word before."""
_QUESTIONS = ("吗", "嗎", "까", "か。", "か？", "か?")
"""Starts of a text that make the words before it a question."""
_PARTS = (*_ENDINGS, *_STARTS, *"别別除仅僅只", "なし", "なく", "안 ", "만 ", "ยกเว้น", "เว้นแต่", "เท่านั้น")
_NEGATING_PART = re.compile(
    r"n['’]t\b|[没沒無勿]|不(?![过過同仅僅])|无(?!论)|非(?!常)|未(?![来來])"
    r"|ない|なかった|なけれ|なし|なく|(?<![必ま])ず|ません|않|못|없|아니|ไม่|ห้าม"
)
"""Parts of a text that negate. Others with the same letters are words such as 非常 (very)."""
_MARKUP = re.compile(r"<[^<>]*>|[*_~`>\\]")
_EDGES = "([\"“„«‘'’.,;:!?)]”»"
_APART = re.compile(r"[)\]\"”’»*_`]*(?:\s+[-–—]+\s|[.,;:!?…。，；：！？、])")
"""What separates a word from the next one, so that it does not negate it."""
_NEAR = 40
"""Number of characters around a word that are read to tell its sense."""


def has_turning_word(text: str) -> bool:
    """Return whether a word of a text reverses or limits what is said."""
    return any(word in _TURNING or _DENYING.fullmatch(word) for word in _list_words(text))


def has_turning_part(text: str) -> bool:
    """Return whether a part of a word in a text reverses or limits what is said."""
    return any(part in text for part in _PARTS)


def has_negation(text: str) -> bool:
    """Return whether a word of a text, or a part of a word, negates."""
    return _NEGATING_PART.search(text) is not None or any(
        (word in _NEGATING_ANSWER and not _has_other_sense(word, text)) or _DENYING.fullmatch(word)
        for word in _list_words(text)
    )


def _list_words(text: str) -> list[str]:
    return [word.strip(_EDGES) for word in _MARKUP.sub(" ", text).casefold().split()]


def negates_after(text: str, start: int, end: int) -> bool:
    """Return whether the word of a text from `start` to `end` negates the one after it."""
    if _APART.match(text, end):
        return False
    ends_negating = text[max(0, end - _NEAR) : end].casefold().endswith(_ENDINGS)
    return ends_negating or _is_negation(_NEGATING, text, start, end)


def negates_before(text: str, start: int, end: int, after: int) -> bool:
    """Return whether a word negates the words before it, which end at `after`, or makes them a question."""
    if _APART.match(text, after):
        return False
    starts_negating = text.startswith((*_STARTS, *_QUESTIONS), start)
    return starts_negating or _is_negation(_NEGATING_BEFORE, text, start, end)


def _is_negation(negating: Container[str], text: str, start: int, end: int) -> bool:
    word = text[start:end].casefold()
    near = text[max(0, start - _NEAR) : end + _NEAR]
    return word in negating and not _has_other_sense(word, near)


def _has_other_sense(word: str, near: str) -> bool:
    sense = _OTHER_SENSES.get(word)
    return sense is not None and sense.search(near.casefold()) is not None
