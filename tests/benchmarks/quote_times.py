"""What looking up quotes takes in texts of two sizes."""

import gzip
from collections.abc import Iterator
from functools import partial
from statistics import median

from roamtui.quotes.find import find_quote
from tests.benchmarks.bench import make_text
from tests.benchmarks.measuring import Finding, limit_seconds, measure_cpu
from tests.real_documents import find_data_dir

_SIZES = (1_000_000, 20_000_000)
_FURTHER_SECONDS_MAX = 0.02
_AT_THE_END = ("The last words", "last words are said", "words are said only once", "only once, here", "are … once")
_MISSING = "A late spade of the second kind costs {} guilders for each day of the winter."


def make_long_text(length: int) -> str:
    """Return pages of a real site, or else the example handbook again and again, cut to a length."""
    pages = find_data_dir() / "perf" / "mdn-concat-50mb.md.gz"
    if pages.is_file():
        with gzip.open(pages, "rt", encoding="utf-8") as file:
            return file.read(length)
    return make_text(length)[:length]


def bench_look_ups() -> Iterator[Finding]:
    """The first quote in each text, and further ones."""
    for length in _SIZES:
        text = f"{make_long_text(length)}\n\nThe **last** words are said only `once`, here.\n"
        first = measure_cpu(partial(find_quote, "The last words are said only once, here", text))
        quotes = (*_AT_THE_END, *map(_MISSING.format, range(len(_AT_THE_END))))
        further = median(measure_cpu(partial(find_quote, quote, text)) for quote in quotes)
        size = length // 1_000_000
        yield limit_seconds(f"first quote in {size} MB, for each MB", first / size)
        yield limit_seconds(f"a further quote in {size} MB", further, _FURTHER_SECONDS_MAX)
