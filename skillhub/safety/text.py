"""Text from outside, as UTF-8 and PostgreSQL can hold it."""

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """NUL and lone surrogates become the replacement character; tool output contains them now and then."""
    return _UNSTORABLE.sub("\ufffd", text)
