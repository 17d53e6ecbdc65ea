"""Words that turn the meaning of the words beside them, in the languages that documents are in."""

import re

_LIMITING_TEXT = """
none nothing without except unless until subject provided only hardly barely keines ohne außer ausser nur
weder sofern zonder behalve alleen tenzij utan uden uten utom undtagen unntatt bara kun endast sans sauf
rien ni seulement sinon sin salvo excepto solo sólo mai senza tranne eccetto soltanto sem exceto só somente
apenas nu fără decât bez tylko oprócz jen kromě без кроме только крім лише ilman vain paitsi csak kivéve
nélkül yalnızca hariç sadece χωρίς εκτός μόνο بدون دون إلا فقط ما בלי ללא רק אלא बिना केवल सिवाय
"""
"""Some of them negate too, but are other words in another language, or stand before a name."""
_NEGATING_TEXT = """
not no never nor neither cannot nicht kein keine keinen keinem keiner nie niemals niet geen nooit inte ikke ej
aldrig aldri ne n pas jamais aucun aucune no nunca jamás ningún ninguna ninguno tampoco non né nessun nessuna
nessuno não nem nenhum nenhuma nie nigdy żaden nikdy не нет никогда ни нельзя ei eivät koskaan nincs soha
değil hiç yok δεν μη μην ποτέ κανένα ούτε لا لم لن ليس ليست غير לא אין אינו אינה नहीं न मत 안 못
"""
_DENYING = (
    *("prohibit", "forbid", "refus", "declin", "denie", "deny", "exclud", "reject", "prevent", "waive"),
    *("verbiete", "verbot", "untersag", "ausgeschlossen", "verweiger", "interdi", "exclu", "prohib", "proib"),
    *("rechaz", "recus", "vieta", "rifiut", "esclu"),
)
"""How verbs begin that deny what follows them."""
_LATE_TEXT = "not never nicht kein keine keinen nie niet geen inte ikke ej pas jamais değil yok नहीं"
_NEGATING = frozenset(_NEGATING_TEXT.split())
_TURNING = _NEGATING | frozenset(_LIMITING_TEXT.split())
_LATE = frozenset(_LATE_TEXT.split())
"""Words that negate what stands before them."""
_ENDINGS = ("n't", "n’t", *"不没沒無无非未勿", "ไม่", "ห้าม")
"""Ends of a text that negate the next word, in languages that write them together with other words."""
_STARTS = ("ない", "なかった", "なけれ", "ず", "ません", "않", "못", "없", "아니", "ไม่")
"""Starts of a text that negate the word before."""
_QUESTIONS = ("吗", "嗎", "까", "か。", "か？", "か?")
"""The same for words that become a question."""
_PARTS = (*_ENDINGS, *_STARTS, *"别別除仅僅只", "なし", "なく", "안 ", "만 ", "ยกเว้น", "เว้นแต่", "เท่านั้น")
_MARKUP = re.compile(r"<[^<>]*>|[*_~`>\\]")
_OPENING = "([\"“„«'’"
_CLOSING = '.,;:!?)]"”“»'


def has_turning_word(text: str) -> bool:
    """Return whether a word of a text reverses or limits what is said."""
    words = [word.strip(_OPENING + _CLOSING) for word in _MARKUP.sub(" ", text).casefold().split()]
    return any(word in _TURNING or word.startswith(_DENYING) for word in words)


def has_turning_part(text: str) -> bool:
    """Return whether a text has a part of a word that does so."""
    return any(part in text for part in _PARTS)


def negates_after(text: str) -> bool:
    """Return whether a text ends with a negation of the next word."""
    before = _MARKUP.sub(" ", text).casefold().rstrip(" \t\r\n'’")
    word = before.split()[-1].lstrip(_OPENING) if before else ""
    return word in _NEGATING or word.endswith(_ENDINGS)


def negates_before(text: str) -> bool:
    """Return whether a text starts with a negation of the words before it, or makes them a question."""
    after = _MARKUP.sub(" ", text).casefold().lstrip()
    word = after.split()[0].rstrip(_CLOSING) if after else ""
    return word in _LATE or after.startswith((*_STARTS, *_QUESTIONS))
