"""By what form an answer is known: a question for a number, an age, a time or a price, in some languages."""

from __future__ import annotations

import re

_LETTER_NUMBERS = "一二三四五六七八九十百千万两半"
_UNITS_OF_TIME = "|".join(
    (
        r"seconds?|minutes?|hours?|nights?|days?|weeks?|months?|years?",
        r"sekunden?|minuten?|stunden?|tage?n?|wochen?|monate?n?|jahre?n?",
        r"secondes?|heures?|jours?|semaines?|mois|ans?|années?",
        r"segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?",
    )
)
_NUMBER_WORDS = "|".join(
    (
        r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|\w+teen|twelve|twenty|thirty|forty|fifty|sixty|seventy",
        r"eighty|ninety|hundred|thousand|million|half|third|once|twice|daily|weekly|monthly|yearly",
        r"zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|\w+zehn(?:te[nrs]?)?|\w+zig(?:ste[nrs]?)?|hundert",
        r"\w*tausend|hälfte|dritteln?|einmal|zweimal|doppelte|dreifache",
        r"deux|trois|quatre|cinq|sept|huit|neuf|dix|onze|douze|quinze|vingt|trente|quarante|cinquante|soixante|cent|mille",
        r"moitié",
        r"dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|quince|dieci\w+|veinte|veinti\w+|treinta|cuarenta",
        r"cincuenta|sesenta|cien|mil|mitad|medi[ao]",
    )
)
_NUMBER = rf"\d|\b(?:{_NUMBER_WORDS})\b|[二三四五六七八九十百千万两半]|一[次年月天日周个册件元角分名人小時间間円回番]"
MONTHS = "|".join(
    (
        r"january|february|march|april|may|june|july|august|september|october|november|december",
        r"januar|februar|märz|mai|juni|juli|oktober|dezember",
        r"janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre",
        r"enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre",
    )
)
"""Names of months, as alternatives of a pattern in lower case."""
_WEEKDAYS = "|".join(
    (
        r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?",
        r"lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo",
    )
)
_SPAN = rf"(?:{_NUMBER})[\s\w-]{{0,20}}?\b(?:{_UNITS_OF_TIME})\b"
"""A number of units of time."""
_DURATION = rf"{_SPAN}|\d ?(?:s|ms|min|h)\b|[\d{_LETTER_NUMBERS}][个個]?(?:天|日|周|月|年|小时|時間|分)"
_TIME = "|".join(
    (
        r"\b\d{1,2}[:.]\d\d\b|\b\d{1,2} ?(?:h|am|pm|a\.m|p\.m|uhr|o'clock)\b|\b(?:1[5-9]|20)\d\d\b",
        rf"\b(?:{MONTHS}|{_WEEKDAYS})\b|\b(?:noon|midnight|mittags?|mitternacht|midi|minuit|mediodía|medianoche)\b",
        rf"{_SPAN}|lebensjahr",
        rf"[\d{_LETTER_NUMBERS}][点时時月日号年]|[周星期][一二三四五六日天]|[月火水木金土日]曜",
    )
)
_AGE = "|".join(
    (
        r"\bage[ds]?\b|\b(?:older|younger|years old)\b|\b(?:under|over|above|below) \d",
        r"lebensjahr|\b(?:alter|âge|edad)\b",
        rf"(?:{_NUMBER})[\s\w-]{{0,20}}?\b(?:jahren?|ans|años)\b|[\d{_LETTER_NUMBERS}]周?[岁歳歲]",
    )
)
_PRICE = "|".join(
    (
        r"[€$£¥₹%元角円]|\b(?:euros?|dollars?|pounds?|cents?|francs?|pesos?|yen|crowns?|eur|usd|gbp|chf|percent|prozent)\b",
        r"\bfree\b|\bkostenlos|\bkostenfrei|\bgratuit|\bgratis\b|免费|無料",
    )
)
_ASKS_FOR_AGE = "|".join(
    (
        r"\bhow old\b|\bwhat age\b|\b(?:minimum|legal) age\b|\bwie alt\b|\bwelchem alter\b|\bmindestalter\b",
        r"\bquel âge\b|\bqué edad\b|\bcuántos años tiene|几岁|多大年|何歳",
    )
)
_ASKS_FOR_DURATION = "|".join(
    (
        r"\bhow long\b|\bhow many (?:seconds|minutes|hours|days|weeks|months|years)\b",
        r"\bwie lange?\b|\bwie viele (?:minuten|stunden|tage|wochen|monate|jahre)\b",
        r"\bcombien de (?:temps|minutes|heures|jours|semaines|mois)\b|\bquelle est la durée\b",
        r"\bcuánto (?:tiempo|dura)\b|\bcuántos (?:minutos|días|meses|años)\b|\bcuántas (?:horas|semanas)\b",
        r"多久|多长时间|多少[天年月]|几[天年]|どのくらい|何[日分]",
    )
)
_ASKS_FOR_TIME = "|".join(
    (
        r"\bwhen\b|\b(?:what|which) (?:time|date|day|months?|year)\b|\bwann\b|\bwelche[mns] (?:tag|monat|jahr)\b",
        r"\bquand\b|\bà quelle heure\b|\bcuándo\b|\bqué (?:día|hora|año)\b",
        r"什么时候|何时|几[点号月]|星期几|周几|哪[天年]|いつ|何時",
    )
)
_ASKS_FOR_PRICE = "|".join(
    (
        r"\bcosts?\b|\bprices?\b|\bkoste[nt]\b|\bpreis|\bwie teuer\b|\bcoûte|\bprix\b|\bcuestan?\b|\bprecio",
        r"多少钱|いくら",
    )
)
_ASKS_FOR_NUMBER = "|".join(
    (
        r"\bhow (?:big|deep|early|far|fast|frequently|heavy|high|large|late|many|much|often|quickly|small|soon|tall)\b",
        r"\bwie ?(?:groß|häufig|hoch|oft|schnell|schwer|viele?[nr]?|weit)\b",
        r"\bcombien\b|\bquelle (?:fréquence|température|distance|hauteur)\b",
        r"\bcuánt[oa]s?\b|\bqué (?:cantidad|temperatura)\b|多少|几|何[人回個枚]|いくつ",
    )
)
_AGE_WORDS = ("age", "lebensjahr", "alter", "edad", "岁", "歳")
_FORMS = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(answered, re.IGNORECASE))
    for asked, answered in (
        (_ASKS_FOR_AGE, _AGE),
        (_ASKS_FOR_DURATION, _DURATION),
        (_ASKS_FOR_TIME, _TIME),
        (_ASKS_FOR_PRICE, _PRICE),
        (_ASKS_FOR_NUMBER, _NUMBER),
    )
)
"""By what a question is known, and by what the sentence that answers it; the more exact first."""


def find_answer_form(question: str) -> re.Pattern[str] | None:
    """Return what a sentence should hold that answers a question for a number, an age, a time or a price.

    Returns:
        A pattern to search sentences for; None where the question asks for nothing of the kind.
    """
    return next((answered for asked, answered in _FORMS if asked.search(question)), None)


def list_implied(question: str) -> tuple[str, ...]:
    """Return the words that a question asks for without saying them: a text says age where one asks how old."""
    return _AGE_WORDS if _FORMS[0][0].search(question) else ()
