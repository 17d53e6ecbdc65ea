"""Names of models, and addresses of servers, without sense."""

import pytest

from roamtui.errors import UsageError
from roamtui.models.registry import make_model


@pytest.mark.parametrize(
    "name", ["", " ", "open ai/x", "openai/x ", "openai/x\n", "openai/\x1b[31mx", "a\u202eb", "a\u00a0b"]
)
def test_a_name_without_sense_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="Use one like openai") as caught:
        make_model(name)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("address", ["", "localhost:11434", "ftp://host/", "http://", "http://[::1", "http://h\n/"])
def test_an_address_without_sense_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="is not the URL of a server") as caught:
        make_model("openai/x", api_base=address)
    assert str(caught.value).isprintable()
