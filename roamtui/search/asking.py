"""Words of a question that only ask, in some languages: how much, wie lange, 多少, ですか."""

from __future__ import annotations

import re

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
