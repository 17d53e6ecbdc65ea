"""How a model says that the text does not answer a question."""

UNCERTAIN = "No sentence answers this for certain."
"""What is said above the nearest passages, without a claim that the text has no answer."""
NOT_FOUND_START = "Not found:"
"""How the prompt asks a model to begin if the text has no answer."""
_NOT_FOUND_STARTS = (
    NOT_FOUND_START.lower().rstrip(":"),
    *("nicht gefunden", "non trouvé", "introuvable", "no encontrado", "no se encontró", "não encontrado"),
    *("non trovato", "未找到", "没有找到", "見つかりません"),
)
"""How answers that found nothing begin, in lower case. Some models translate the prompt's words."""


def is_not_found(answer: str) -> bool:
    """Return whether an answer says that nothing was found, in the words of the prompt or translated."""
    return answer.lstrip("*_#> \n").lower().startswith(_NOT_FOUND_STARTS)
