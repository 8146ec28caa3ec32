"""Credentials do not reach the store; prose about credentials does."""

import pytest

from skillhub.safety import secrets

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7\nabc+/=\n-----END RSA PRIVATE KEY-----"
SECRETS = {
    "api_key: sk-live-4f9A8b7C6d5E4f3A2b1C": "4f9A8b7C6d5E4f3A2b1C",
    "OPENAI_API_KEY=sk-proj-abcdefghijklmnop1234": "abcdefghijklmnop1234",
    "stripe sk_live_51Habcdefghijklmnop": "51Habcdefghijklmnop",
    "Authorization: Bearer abcdefghijklmnop.qrst": "abcdefghijklmnop",
    "authorization: basic dXNlcjpwYXNzd29yZA==": "dXNlcjpwYXNz",
    "our own shk_abcdefghijklmnopqrstuvwxyz012345": "abcdefghijklmnop",
    "git clone https://bob:hunter2@example.org/x.git": "hunter2",
    '{"password": "hunter2222"}': "hunter2222",
    "export CLIENT_SECRET='a1b2c3d4e5'": "a1b2c3d4e5",
    "aws AKIAIOSFODNN7EXAMPLE ok": "AKIAIOSFODNN7EXAMPLE",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789": "abcdefghijklmnop",
    "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH": "abcdefghijklmnop",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N": "dozjgNryP4J3",
    f"the file says {PEM} and more": "MIIEowIBAAKCAQEA7",
    f"escaped {PEM!r}": "MIIEowIBAAKCAQEA7",
    "cut off -----BEGIN PRIVATE KEY-----\nMIIEowIBAAKC": "MIIEowIBAAKC",
}
PROSE = [
    "The password is written on the desk.",
    "secret: the yellow door opens with the brass key",
    "tokens: 12345678, token: 123456789",
    "Pick up the key; the api key field is empty.",
    "A bearer of news walked in. Basic instructions follow below.",
    "risk-averse-and-slow-planning is a policy, and task-conditioned-policies too",
    "see https://example.org:8080/a?b=c and mailto:a@example.org",
    "token: next_action",
    "keyboard = qwerty12345",
    "1234567890abcdef1234567890abcdef is a commit",
]


@pytest.mark.parametrize(("text", "secret"), SECRETS.items())
def test_a_credential_is_replaced(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in secrets.redact(text)
    assert "[redacted: " in secrets.redact(text)


@pytest.mark.parametrize("text", PROSE)
def test_prose_about_credentials_is_left_as_it_is(text: str) -> None:
    assert secrets.redact(text) == text


@pytest.mark.parametrize("text", [*SECRETS, *PROSE])
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = secrets.redact(text)
    assert secrets.redact(once) == once


def test_what_stands_around_a_credential_is_kept() -> None:
    assert secrets.redact(f"before {PEM}; after") == "before [redacted: private key]; after"
    assert secrets.redact("https://bob:hunter2@example.org/x") == "https://[redacted: url password]@example.org/x"


def test_the_place_of_each_credential_is_told() -> None:
    text = "a AKIAIOSFODNN7EXAMPLE b ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    assert [text[secret.start : secret.end][:5] for secret in secrets.find(text)] == ["AKIAI", "ghp_a"]


@pytest.mark.parametrize("unit", ["-----BEGIN PRIVATE KEY-----\n", "://a", "sk-", "Bearer ", "eyJ.", "password:", "api_key ="])
def test_hostile_text_does_not_hang_it(unit: str) -> None:
    assert secrets.redact(unit * 50_000)
