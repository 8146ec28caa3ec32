"""Identifiers: a three-letter prefix and a ULID, so that ids of one kind sort by time of creation."""

import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_SHIFTS = range(120, -1, -10)


def new_id(prefix: str) -> str:
    """`new_id("skl")` -> `skl_` and 26 base-32 characters: 48 bits of milliseconds, 80 random bits."""
    value = (int(time.time() * 1000) << 80) | secrets.randbits(80)
    return f"{prefix}_" + "".join([_PAIRS[value >> shift & 1023] for shift in _SHIFTS])
