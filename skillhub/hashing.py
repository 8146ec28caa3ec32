"""Content addresses: SHA-256 over one canonical form, so equal content has one name everywhere."""

import hashlib
import hmac
import json
from collections.abc import Iterable
from json.encoder import encode_basestring
from typing import Any

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sha256_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def sha256_json(value: Any) -> str:
    """Hash of the canonical JSON: sorted keys, no spaces, UTF-8."""
    return sha256_bytes(canonical_json(value).encode())


def canonical_json(value: Any) -> str:
    """Sorted keys, no spaces, no escapes but the needed."""
    return _CANONICAL.encode(value)


def canonical_text(value: str) -> str:
    """The same of a text, without the way through an encoder."""
    return encode_basestring(value)


def sha256_files(files: Iterable[tuple[str, int, bytes]]) -> str:
    """Hash of a folder, `(path, mode, content)` in any order; every part is framed by its length."""
    digest = hashlib.sha256()
    for path, mode, content in sorted(files):
        name = path.encode()
        digest.update(b"%d:%s%o:%d:" % (len(name), name, mode, len(content)))
        digest.update(content)
    return digest.hexdigest()


def keyed_hash(secret: str, value: str) -> str:
    """HMAC-SHA256, for API keys: a leaked table without the server's secret says nothing."""
    return hmac.new(secret.encode(), value.encode(), hashlib.sha256).hexdigest()
