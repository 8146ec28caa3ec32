"""Requests to addresses that a caller named. The address that is checked is the one that is connected to, and none is inside.

In: a URL and a body. Out: the status of the answer. No redirect is followed, no name is resolved twice, no answer is kept.
"""

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

import httpx

from skillhub.errors import Invalid

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
SECONDS = 10.0
MAX_ANSWER_BYTES = 64 * 1024
PORTS = (80, 443, 8080, 8443)
"""Others need an allowed network: a hub must not be a scanner of ports."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


@dataclass(frozen=True)
class Rules:
    """What the operator allows."""

    http: bool = False
    """Whether `http://` is allowed, for tests and private networks."""
    networks: tuple[Network, ...] = ()
    """Private networks that may be reached."""

    @classmethod
    def of(cls, *, http: bool, networks: str) -> "Rules":
        """From the settings; `networks` are in CIDR form with commas between."""
        return cls(http, tuple(ipaddress.ip_network(part.strip()) for part in networks.split(",") if part.strip()))


def check(url: str, rules: Rules) -> None:
    """Invalid where the URL, or an address that its name stands for now, must not be reached."""
    _addresses(_parsed(url, rules), rules)


def post(url: str, *, content: bytes, headers: dict[str, str], rules: Rules) -> int:
    """Send a POST and return the status. Errors: Invalid where it must not be reached, httpx.HTTPError where it cannot be."""
    parts = _parsed(url, rules)
    address = _addresses(parts, rules)[0]
    host = f"[{address}]" if address.version == 6 else str(address)
    there = parts._replace(netloc=f"{host}:{_port(parts)}", fragment="").geturl()
    headers = headers | {"Host": parts.netloc}
    with (
        httpx.Client(timeout=SECONDS, follow_redirects=False, trust_env=False) as client,
        client.stream("POST", there, content=content, headers=headers, extensions={"sni_hostname": parts.hostname}) as answer,
    ):
        _drain(answer)
        return answer.status_code


def _drain(answer: httpx.Response) -> None:
    """Read a little, so that a polite receiver is not cut off; a long answer is not waited for."""
    read = 0
    for part in answer.iter_raw():
        read += len(part)
        if read > MAX_ANSWER_BYTES:
            return


def _parsed(url: str, rules: Rules) -> SplitResult:
    try:
        parts = urlsplit(url)
        port = _port(parts)
    except ValueError as error:
        raise Invalid(f"this is not a URL: {error}", path="/url") from error
    faults = [
        (parts.scheme not in ("https", *(("http",) if rules.http else ())), "must start with https://"),
        (not parts.hostname, "must name a host"),
        (parts.username is not None or parts.password is not None, "must not hold a user name or password"),
        (not rules.networks and port not in PORTS, f"must use one of the ports {', '.join(map(str, PORTS))}"),
    ]
    for wrong, message in faults:
        if wrong:
            raise Invalid(f"the URL {message}", path="/url")
    return parts


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def _addresses(parts: SplitResult, rules: Rules) -> Sequence[Address]:
    """What the host stands for now, all of it allowed; else Invalid, which does not say what a name stands for."""
    try:
        found = socket.getaddrinfo(parts.hostname, _port(parts), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Invalid(f"the host {parts.hostname!r} is not known", path="/url") from error
    addresses = [ipaddress.ip_address(entry[4][0].partition("%")[0]) for entry in found]
    if not all(_allowed(address, rules) for address in addresses):
        raise Invalid(f"the host {parts.hostname!r} is not a public one", path="/url")
    return addresses


def _allowed(address: Address, rules: Rules) -> bool:
    inner = _inner(address)
    if any(inner.version == network.version and inner in network for network in rules.networks):
        return True
    return inner.is_global and not inner.is_multicast


def _inner(address: Address) -> Address:
    """The IPv4 address that an IPv6 one wraps, where it does."""
    if address.version == 4:
        return address
    if address in _NAT64:
        return ipaddress.ip_address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address
