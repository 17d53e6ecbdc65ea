"""Names of models, and addresses of servers, without sense."""

import pytest

from roamtui.errors import UsageError
from roamtui.models.registry import make_model

_NAMES = ("", " ", "open ai/x", "openai/x ", "openai/x\n", "openai/\x1b[31mx", "a\u202eb", "a\u00a0b")
_ADDRESSES = ("", "localhost:11434", "ftp://host/", "http://", "http://[::1", "http://h\n/")


@pytest.mark.parametrize(
    ("name", "address", "problem"),
    [
        *((name, None, "Use one like openai") for name in _NAMES),
        ("http://127.0.0.1:1/v1", None, "is a URL, not the name of a model. Start .* --api-base"),
        *((name, address, "is not the URL of a server") for name in ("openai/x", "offline") for address in _ADDRESSES),
    ],
)
def test_a_name_or_an_address_without_sense_is_refused(name: str, address: str | None, problem: str) -> None:
    with pytest.raises(UsageError, match=problem) as caught:
        make_model(name, api_base=address)
    assert str(caught.value).isprintable()


def test_a_sign_in_the_path_of_an_address_is_no_password() -> None:
    make_model("openai/x", api_base="https://gateway.example/v1/accounts/team@corp")
    with pytest.raises(UsageError, match="must not contain a user name or password"):
        make_model("openai/x", api_base="https://me:secret@gateway.example/v1")
