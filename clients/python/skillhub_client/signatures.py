"""Verifying that a webhook came from the hub (Standard Webhooks: HMAC-SHA256 over id, time and body)."""

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Mapping

from skillhub_client.errors import refused

TOLERANCE_SECONDS = 300


def verify_webhook(body: bytes, headers: Mapping[str, str], secret: str) -> None:
    """Nothing where one of the signatures is right and the message is not older than five minutes; else `errors.Invalid`.

    `body` is the body as it came, byte for byte; `secret` is what `create_webhook` gave.
    """
    given = {name.lower(): value for name, value in headers.items()}
    missing = {"webhook-id", "webhook-timestamp", "webhook-signature"} - given.keys()
    if missing:
        raise refused(f"not a signed webhook: {', '.join(sorted(missing))} missing")
    timestamp = given["webhook-timestamp"]
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        raise refused("the webhook is too old, or a clock is wrong")
    signed = f"{given['webhook-id']}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(_key(secret), signed, hashlib.sha256).digest()).decode()
    found = [part.removeprefix("v1,") for part in given["webhook-signature"].split() if part.startswith("v1,")]
    if not any(hmac.compare_digest(expected.encode(), signature.encode()) for signature in found):
        raise refused("the signature of the webhook is wrong")


def _key(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise refused("the secret is not one of a webhook") from error
