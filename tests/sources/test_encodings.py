"""Texts in encodings that the file does not name: 60 files, of which each must show the words that were written."""

import pytest

from roamtui.sources.convert.conversion import convert
from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.decode import decode_html, decode_text

_WESTERN = (
    "# Gebühren\n\nDie Gebühr für einen Liegeplatz beträgt 12 €. Wer später zahlt, schuldet fünf Prozent.\n",
    "Port;Größe;Höhe\nSaßnitz;groß;3,50\nLübeck;klein;2,75\n",
    "Règlement du port\n\nL'accès est réservé aux bateaux assurés ; où est la clé ? À la capitainerie.\n",
    "El muelle está cerrado. La señora Núñez abrirá mañana a las ocho.\n",
    "Båtar får ligga här över natten. Avgiften är hundra kronor, och nyckeln lämnas på måndag.\n",
    "L’attesa è più lunga perché la città è affollata – così è.\n",
)
_CENTRAL = (
    "# Opłaty\n\nZa miejsce przy nabrzeżu płaci się 12 złotych. Kto się spóźni, płaci więcej.\n",
    "Jméno;Město;Číslo\nDvořáček;Děčín;12\nŠťastný;Třeboň;15\n",
    "Přístav je otevřen každý den. Klíče dostanete u správce, který bydlí vedle.\n",
    "A kikötő minden nap nyitva van. A díj előre fizetendő, a kulcsot a gondnoktól kell kérni.\n",
    "Brodovi smiju noćiti ovdje. Račun se plaća u uredu, a ključ čuva čuvar.\n",
    "Loď môže kotviť dva dni. Poplatok sa platí vopred, kľúč je u správcu.\n",
)
_CYRILLIC = (
    "# Сборы\n\nЗа место у причала платят двенадцать рублей. Кто опоздает, платит больше.\n",
    "Имя;Город;Номер\nКузнецов;Мурманск;12\nСмирнова;Выборг;15\n",
    "Порт открыт каждый день. Ключи выдаёт смотритель.\n",
    "Закрыто\n",
    "Раздел 1. Общие положения\n\nСтороны заключили договор.\n\nРаздел 2. Сроки\n",
    "Плата: 12 рублей; залог: 50 рублей.\n",
)
_JAPANESE = (
    "# 料金\n\n係留の料金は一日につき千二百円です。遅れた場合は五分を加えます。\n",
    "番号,港,大きさ\n1,横浜,大\n2,神戸,中\n",
    "港は毎日開いています。鍵は管理人が持っています。\n",
    "営業時間のお知らせ\n",
    "第一章　総則\n\n船舶は係留の前に届け出る。\n\n第二章　料金\n",
    "Fees: 一日千円, ヨットは無料です。\n",
)
_SIMPLIFIED = (
    "# 费用\n\n泊位的费用为每天十二元。迟到的人应多付百分之五。\n",
    "编号,港口,大小\n1,上海,大\n2,青岛,中\n",
    "港口每天开放。钥匙由管理员保管。\n",
    "营业时间通知\n",
    "第一章　总则\n\n船舶停泊前应当申报。\n\n第二章　费用\n",
    "Fees: 每天十元, 帆船免费。\n",
)
_TRADITIONAL = (
    "# 費用\n\n泊位的費用為每天十二元。遲到的人應多付百分之五。\n",
    "編號,港口,大小\n1,高雄,大\n2,基隆,中\n",
    "港口每天開放。鑰匙由管理員保管。\n",
    "營業時間通知\n",
    "第一章　總則\n\n船舶停泊前應當申報。\n\n第二章　費用\n",
    "Fees: 每天十元, 帆船免費。\n",
)
_TEXTS_BY_ENCODING = {
    "cp1252": _WESTERN,
    "cp1250": _CENTRAL,
    "cp1251": _CYRILLIC,
    "koi8-r": _CYRILLIC,
    "shift_jis": _JAPANESE,
    "euc_jp": _JAPANESE,
    "gbk": _SIMPLIFIED,
    "big5": _TRADITIONAL,
    "utf-16-le": (_WESTERN[0], _CENTRAL[1], _CYRILLIC[2], _JAPANESE[0], _SIMPLIFIED[1], _TRADITIONAL[4]),
    "utf-16-be": (_WESTERN[2], _CENTRAL[0], _CYRILLIC[1], _JAPANESE[2], _SIMPLIFIED[4], _TRADITIONAL[1]),
}


@pytest.mark.parametrize("encoding", _TEXTS_BY_ENCODING)
def test_a_text_in_an_older_encoding_shows_its_words_and_says_what_was_assumed(encoding: str) -> None:
    for text in _TEXTS_BY_ENCODING[encoding]:
        decoded, notes = decode_text(text.encode(encoding), "a.txt")
        assert decoded == text
        assert len(notes) == 1
        assert notes[0].startswith("a.txt: not UTF-8; read as ")


def _convert(data: bytes, name: str) -> ConvertedText:
    converted = convert(data, name)
    assert converted is not None
    return converted


def test_every_format_that_is_text_is_read_in_its_encoding() -> None:
    rows = _convert(_JAPANESE[1].encode("shift_jis"), "a.csv")
    assert "| 1 | 横浜 | 大 |" in rows.text
    assert rows.notes[1].startswith("a.csv: not UTF-8; read as Japanese text (Shift-JIS).")
    captions = "1\n00:00:01,000 --> 00:00:04,000\nGrüße aus Köln\n"
    assert "Grüße aus Köln" in _convert(captions.encode("cp1252"), "a.srt").text
    assert "# Gebühren" in _convert("Gebühren\n========\n\nZwölf Euro.\n".encode("cp1252"), "a.rst").text
    page = "<html><body><h1>料金</h1><p>係留の料金は千二百円です。</p></body></html>"
    assert decode_html(page.encode("euc_jp")) == (page, ())


def test_damaged_utf8_stays_utf8() -> None:
    text, notes = decode_text("Größe und Länge, übrigens\n".encode() + b"\xff", "a.md")
    assert text == "Größe und Länge, übrigens\n\ufffd"
    assert notes == ("a.md: 1 characters are not valid UTF-8 and show as \ufffd.",)
