"""Requests to addresses that a caller named. The address that is checked is the one that is connected to, and none is inside.

In: a URL and a body. Out: the status of the answer, within a bounded time. No redirect is followed, no name is resolved twice,
no answer is read.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass

import httpx

from skillhub.errors import Invalid

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
SECONDS = 10.0
"""For connecting, sending and the head of the answer together, once the host's name is resolved."""
PORTS = (80, 443, 8080, 8443)
"""Others need an address in an allowed network: a hub must not be a scanner of ports."""
_DENIED = [
    ipaddress.ip_network(network)
    for network in (
        "168.63.129.16/32", "192.0.0.0/24", "192.88.99.0/24",  # services inside of clouds, relays
        "::/96", "64:ff9b:1::/48", "fec0::/10", "5f00::/16",
    )
]  # fmt: skip
"""Not public, whatever the `ipaddress` of this Python says."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


@dataclass(frozen=True)
class Rules:
    """What the operator allows."""

    http: bool = False
    """Whether `http://` is allowed, for tests and private networks."""
    networks: tuple[Network, ...] = ()
    """Private networks that may be reached, on any port."""

    @classmethod
    def of(cls, *, http: bool, networks: str) -> "Rules":
        """From the settings; `networks` are in CIDR form with commas between."""
        return cls(http, tuple(ipaddress.ip_network(part.strip()) for part in networks.split(",") if part.strip()))


def check(url: str, rules: Rules) -> None:
    """Invalid where the URL, or an address that its name stands for now, must not be reached."""
    _addresses(_parsed(url, rules), rules)


def post(url: str, *, content: bytes, headers: dict[str, str], rules: Rules) -> int:
    """Send a POST and return the status. Errors: Invalid where it must not be reached, httpx.HTTPError and TimeoutError where
    it cannot be."""
    parsed = _parsed(url, rules)
    there = parsed.copy_with(host=str(_addresses(parsed, rules)[0]), fragment=None)
    request = httpx.Request(
        "POST", there, content=content, headers=headers | {"Host": parsed.netloc.decode()},
        extensions={"sni_hostname": parsed.raw_host.decode(), "timeout": httpx.Timeout(SECONDS).as_dict()},
    )  # fmt: skip
    return asyncio.run(_status(request))


async def _status(request: httpx.Request) -> int:
    async with asyncio.timeout(SECONDS), httpx.AsyncClient(follow_redirects=False, trust_env=False) as client:
        answer = await client.send(request, stream=True)
        await answer.aclose()
        return answer.status_code


def _parsed(url: str, rules: Rules) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError) as error:
        raise Invalid(f"this is not a URL: {error}", path="/url") from error
    faults = [
        (parsed.scheme not in ("https", *(("http",) if rules.http else ())), "must start with https://"),
        (not parsed.host, "must name a host"),
        (bool(parsed.userinfo), "must not hold a user name or password"),
    ]
    for wrong, message in faults:
        if wrong:
            raise Invalid(f"the URL {message}", path="/url")
    return parsed


def _port(parsed: httpx.URL) -> int:
    return parsed.port or (443 if parsed.scheme == "https" else 80)


def _addresses(parsed: httpx.URL, rules: Rules) -> Sequence[Address]:
    """What the host stands for now, all of it allowed; else Invalid, which does not say what a name stands for."""
    try:
        found = socket.getaddrinfo(parsed.raw_host.decode(), _port(parsed), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Invalid(f"the host {parsed.host!r} is not known", path="/url") from error
    addresses = [ipaddress.ip_address(entry[4][0].partition("%")[0]) for entry in found]
    if not all(_allowed(address, _port(parsed), rules) for address in addresses):
        raise Invalid(f"the host {parsed.host!r} is not a public one, or the port not one of {PORTS}", path="/url")
    return addresses


def _allowed(address: Address, port: int, rules: Rules) -> bool:
    inner = _inner(address)
    if _in(inner, rules.networks):
        return True
    denied = _in(inner, _DENIED) or _in(address, _DENIED)
    return port in PORTS and inner.is_global and not inner.is_multicast and not denied


def _in(address: Address, networks: Sequence[Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)


def _inner(address: Address) -> Address:
    """The IPv4 address that an IPv6 one wraps, where it does."""
    if address.version == 4:
        return address
    if address in _NAT64:
        return ipaddress.ip_address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address
