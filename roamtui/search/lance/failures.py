"""What LanceDB's errors mean to a person: one clause, and what to do where that is known."""

from __future__ import annotations

import re

from roamtui.document.plain import plain_line, shorten

_REASON_LENGTH = 200
_KNOWN = (
    (r"NoSuchBucket", "there is no such bucket"),
    (r"api_key is required|Failed to get AWS credentials", "no key was found. Set {keys}"),
    (r"AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|\b40[13]\b", "access was refused. Look at {keys}"),
    (r"BadScheme", "an AWS_ENDPOINT that begins with http:// needs AWS_ALLOW_HTTP=true"),
    (r"kind: Connect\b|connect_failures=3", "its host cannot be reached. Look at {places} and at the network"),
    (r"request_failures=3", "its host answers with errors. Try again later"),
)
"""Patterns of an error's text, the first that is found, and what it means."""
_VARIABLES = {
    "s3": ("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT, AWS_REGION"),
    "db": ("LANCEDB_API_KEY", "LANCEDB_HOST_OVERRIDE, LANCEDB_REGION"),
}
"""By scheme, where keys and addresses come from."""
_OTHERS = ("the keys in the environment", "the address")


def explain_failure(error: Exception, uri: str) -> str:
    """Return why something of LanceDB's failed, without a full stop."""
    text = str(error)
    keys, places = _VARIABLES.get(uri.partition("://")[0], _OTHERS)
    for pattern, meaning in _KNOWN if "://" in uri else ():
        if re.search(pattern, text):
            return meaning.format(keys=keys, places=places)
    return shorten(plain_line(text.partition(", /")[0]), _REASON_LENGTH) or type(error).__name__
