"""Content addresses: SHA-256 over one canonical form, so equal content has one name everywhere."""

import hashlib
import hmac
import json
from collections.abc import Iterable
from typing import Any


def sha256_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def canonical_json(value: Any) -> str:
    """The one text of a value: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sha256_json(value: Any) -> str:
    """Hash of the canonical JSON in UTF-8."""
    return sha256_bytes(canonical_json(value).encode())


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
