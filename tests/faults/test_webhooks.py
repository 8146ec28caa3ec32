"""Webhooks: every event is told, signed, in order, however often the receiver or the worker fails; and never to the inside."""

import json
import random
import socket
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait

import pytest
import sqlalchemy as sa
from skillhub_client import Invalid as Refused
from skillhub_client import verify_webhook

from skillhub.config import Settings
from skillhub.errors import Conflict, Invalid
from skillhub.models import Webhook, Workspace
from skillhub.safety import outbound
from skillhub.safety.outbound import Rules
from skillhub.services import webhooks
from skillhub.services.scope import Scope
from tests.faults.conftest import until
from tests.receiver import Receiver, receiving
from workers.courier import AT_ONCE, send_due

SETTINGS = Settings(
    secret="a-secret-of-the-tests", webhook_allow_http=True, webhook_allowed_networks="127.0.0.0/8", webhook_retry_seconds=0
)
SEED = 7


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


def told(receiver: Receiver) -> list[int]:
    """`seq` of each event it was told of."""
    return [json.loads(body)["data"]["seq"] for _, body in receiver.received]


def hook(scope: Scope, url: str, *kinds: str) -> Webhook:
    return webhooks.create(scope, url=url, kinds=kinds, rules=webhooks.rules(SETTINGS))


def happen(scope: Scope, count: int, kind: str = "thing.made") -> list[int]:
    seqs = []
    for number in range(count):
        with scope.transaction() as unit:
            seqs.append(unit.record(kind, f"thing-{number}"))
    return seqs


def deliver_once(scope: Scope) -> int:
    """One round, to its end; returns how many were sent."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return len(wait(send_due(scope.database, SETTINGS, pool)).done)


def deliver_all(scope: Scope) -> None:
    while deliver_once(scope):
        pass


def states(scope: Scope, webhook: Webhook) -> Counter:
    return Counter(each.state for each in webhooks.deliveries(scope, webhook.id))


def test_each_event_is_told_once_in_order_and_signed(scope: Scope, receiver: Receiver) -> None:
    made = hook(scope, receiver.url, "thing.made")
    happen(scope, 1, "thing.lost")
    seqs = happen(scope, 20)
    deliver_all(scope)
    assert told(receiver) == seqs
    secret = webhooks.secret_of(made, secret=SETTINGS.secret)
    for headers, body in receiver.received:
        verify_webhook(body, headers, secret)
        with pytest.raises(Refused, match="wrong"):
            verify_webhook(body + b" ", headers, secret)
    with pytest.raises(Refused, match="too old"):
        verify_webhook(body, headers | {"webhook-timestamp": "1600000000"}, secret)


def test_a_receiver_that_fails_at_random_is_told_everything_in_order(scope: Scope, receiver: Receiver) -> None:
    made = hook(scope, receiver.url, "thing.made")
    seqs = happen(scope, 30)
    receiver.answers = random.Random(SEED).choices([204, 500, 503, 429], k=40)
    failures = sum(status >= 400 for status in receiver.answers)
    deliver_all(scope)
    print(f"\nseed {SEED}: 30 events, up to {failures} refusals: {len(receiver.received)} told, {dict(states(scope, made))}")
    assert list(dict.fromkeys(told(receiver))) == seqs
    assert states(scope, made) == {"delivered": 30}


def test_a_receiver_that_is_away_and_comes_back_misses_nothing(scope: Scope) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    made = hook(scope, f"http://127.0.0.1:{port}/", "thing.made")
    happen(scope, 3)
    deliver_once(scope)
    [waiting] = [each for each in webhooks.deliveries(scope, made.id) if each.attempt]
    assert (waiting.state, waiting.status, "ConnectError" in waiting.error) == ("waiting", None, True)
    with receiving(port) as late:
        deliver_all(scope)
    assert (len(late.received), states(scope, made)) == (3, {"delivered": 3})


def test_after_failures_in_a_row_a_webhook_is_disabled_and_can_be_made_active_again(scope: Scope, receiver: Receiver) -> None:
    made = hook(scope, receiver.url, "thing.made")
    happen(scope, webhooks.MAX_FAILURES + 2)
    receiver.answers = [500] * webhooks.MAX_ATTEMPTS * webhooks.MAX_FAILURES
    deliver_all(scope)
    assert (webhooks.get(scope, made.id).state, receiver.received) == ("disabled", [])
    assert states(scope, made) == {"dead": webhooks.MAX_FAILURES, "waiting": 2}
    webhooks.change(scope, made.id, state="active", rules=webhooks.rules(SETTINGS))
    [dead, *_] = [each for each in webhooks.deliveries(scope, made.id) if each.state == "dead"]
    webhooks.redeliver(scope, made.id, dead.id)
    deliver_all(scope)
    assert len(receiver.received) == 3
    happen(scope, 1)
    webhooks.fill(scope.database)
    with pytest.raises(Conflict, match="on its way"):
        webhooks.redeliver(scope, made.id, webhooks.deliveries(scope, made.id)[0].id)


def test_an_attempt_that_breaks_in_an_unforeseen_way_counts_as_one(
    scope: Scope, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = hook(scope, receiver.url, "thing.made")
    happen(scope, 1)
    monkeypatch.setattr(outbound, "post", lambda *args, **facts: 1 // 0)
    deliver_all(scope)
    [dead] = webhooks.deliveries(scope, made.id)
    assert (dead.state, dead.attempt, "ZeroDivisionError" in dead.error) == ("dead", webhooks.MAX_ATTEMPTS, True)


def test_a_receiver_that_drips_is_given_up_and_holds_no_other_back(
    scope: Scope, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbound, "SECONDS", 0.5)
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as dripping:
        thread = threading.Thread(target=_drip, args=(dripping, over))
        thread.start()
        slow = hook(scope, f"http://127.0.0.1:{dripping.getsockname()[1]}/", "thing.made")
        hook(scope, receiver.url, "thing.made")
        seqs = happen(scope, 1)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            sent = send_due(scope.database, SETTINGS, pool)
            wait(sent, return_when="FIRST_COMPLETED")
            assert (told(receiver), [future.done() for future in sent].count(False)) == (seqs, 1)
            wait(sent)
        over.set()
        thread.join()
    [given_up] = webhooks.deliveries(scope, slow.id)
    assert (given_up.state, given_up.status, "TimeoutError" in given_up.error) == ("waiting", None, True)


def _drip(server: socket.socket, over: threading.Event) -> None:
    """Answers one byte of a header at a time, without end."""
    connection, _ = server.accept()
    with connection:
        while not over.wait(0.05):
            try:
                connection.sendall(b"H")
            except OSError:
                return


def test_a_webhook_that_is_not_active_cannot_be_tested(scope: Scope, receiver: Receiver) -> None:
    made = hook(scope, receiver.url)
    webhooks.change(scope, made.id, state="paused", rules=webhooks.rules(SETTINGS))
    with pytest.raises(Conflict, match="paused"):
        webhooks.test(scope, made.id)


def test_couriers_at_once_send_each_attempt_once(scope: Scope, receiver: Receiver) -> None:
    made = [hook(scope, receiver.url, "thing.made") for _ in range(4)]
    seqs = happen(scope, 10)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: deliver_all(scope), range(4)))
    deliver_all(scope)
    print(f"\n4 couriers, 4 webhooks x 10 events: {len(receiver.received)} requests")
    assert Counter(told(receiver)) == dict.fromkeys(seqs, len(made))


def test_a_worker_killed_in_the_middle_of_a_delivery_has_it_sent_again(
    scope: Scope, receiver: Receiver, start_worker: Callable[..., subprocess.Popen]
) -> None:
    made = hook(scope, receiver.url, "thing.made")
    [seq] = happen(scope, 1)
    webhooks.fill(scope.database)
    [abandoned] = webhooks.claim(scope.database, secret=SETTINGS.secret, limit=8)
    assert webhooks.claim(scope.database, secret=SETTINGS.secret, limit=8) == []
    with scope.database.engine.begin() as owner:
        owner.execute(sa.text("UPDATE webhook_delivery SET next_attempt_at = now()"))
    more = {name: getattr(SETTINGS, name) for name in ("secret", "webhook_allow_http", "webhook_allowed_networks")}
    start_worker(**more)
    until(lambda: told(receiver) == [seq], why="the next worker sends it")
    until(lambda: states(scope, made) == {"delivered": 1}, why="and notes it")
    webhooks.finish(scope.database, abandoned.delivery, status=500, error=None, pause_seconds=0)
    assert states(scope, made) == {"delivered": 1}


def test_a_rotated_secret_signs_beside_the_one_before_it(scope: Scope, receiver: Receiver) -> None:
    made = hook(scope, receiver.url, "thing.made")
    new = webhooks.rotate(scope, made.id, grace_seconds=60)
    happen(scope, 1)
    deliver_all(scope)
    [(headers, body)] = receiver.received
    secrets = [webhooks.secret_of(each, secret=SETTINGS.secret) for each in (made, new)]
    assert secrets[0] != secrets[1]
    for secret in secrets:
        verify_webhook(body, headers, secret)
    assert len(headers["webhook-signature"].split()) == 2


def test_the_database_holds_no_secret_of_a_webhook(scope: Scope, receiver: Receiver) -> None:
    made = hook(scope, receiver.url)
    happen(scope, 1)
    deliver_all(scope)
    with scope.database.system_transaction() as session:
        tables = ("webhook", "webhook_delivery", "event")
        dump = "".join(str(row) for table in tables for row in session.execute(sa.text(f"SELECT t::text FROM {table} t")))
    assert webhooks.secret_of(made, secret=SETTINGS.secret).removeprefix("whsec_") not in dump


def test_a_redirect_to_the_inside_is_not_followed(scope: Scope, receiver: Receiver) -> None:
    with receiving() as inside:
        receiver.answers, receiver.redirect_to = [302] * 3, inside.url
        made = hook(scope, receiver.url, "thing.made")
        happen(scope, 1)
        for _ in range(3):
            deliver_once(scope)
        [waiting] = webhooks.deliveries(scope, made.id)
        assert (waiting.state, waiting.status, inside.received) == ("waiting", 302, [])


def test_another_workspace_is_told_of_nothing(scope: Scope, receiver: Receiver) -> None:
    with scope.database.system_transaction() as session:
        session.add(Workspace(id="wsp_other", name="other"))
    other = Scope(scope.database, "wsp_other", "tester")
    hook(other, receiver.url)
    happen(scope, 3)
    deliver_all(scope)
    assert {json.loads(body)["data"]["workspace_id"] for _, body in receiver.received} <= {"wsp_other"}


@pytest.mark.parametrize(
    "url",
    ["http://example.com/", "https://127.0.0.1/", "https://localhost/", "https://[::1]/", "https://10.0.0.1/", "https://0.0.0.0/",
     "https://169.254.169.254/latest/meta-data", "https://[::ffff:127.0.0.1]/", "https://[fe80::1]/", "https://100.64.0.1/",
     "https://[64:ff9b::7f00:1]/", "https://[2002:7f00:1::]/", "https://2130706433/", "https://user:pw@example.com/",
     "https://168.63.129.16/", "https://192.0.0.192/", "https://[64:ff9b:1::1]/", "https://[::7f00:1]/", "https://[fec0::1]/",
     "https://8.8.8.8:22/", "https://8.8.8.8/\x01",
     "https://224.0.0.1/", "ftp://example.com/", "https:///x", "https://127.0.0.1:99999/", "https://127.0.0.1:22/", "nothing"],
)  # fmt: skip
def test_an_address_of_the_inside_is_refused(url: str) -> None:
    with pytest.raises(Invalid):
        outbound.check(url, Rules())


def test_an_allowed_network_opens_its_own_ports_and_no_others() -> None:
    rules = Rules.of(http=True, networks="10.1.0.0/16")
    outbound.check("http://10.1.2.3:22/", rules)
    for url in ("http://8.8.8.8:22/", "http://10.2.0.1/", "http://10.2.0.1:22/"):
        with pytest.raises(Invalid):
            outbound.check(url, rules)


def test_an_international_name_is_resolved_and_sent_as_what_it_stands_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(
        outbound.socket, "getaddrinfo", lambda host, port, **_: asked.append(host) or [(2, 1, 6, "", ("127.0.0.1", port))]
    )
    with pytest.raises(Invalid):
        outbound.post("https://b\u00fccher.example/", content=b"{}", headers={}, rules=Rules())
    assert asked == ["xn--bcher-kva.example"]


def test_a_name_that_stands_for_the_inside_is_refused_on_sending_too(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["93.184.215.14", "127.0.0.1"])
    monkeypatch.setattr(
        outbound.socket, "getaddrinfo", lambda host, port, **_: [(socket.AF_INET, 1, 6, "", (next(answers), port))]
    )
    outbound.check("https://rebinding.example/", Rules())
    with pytest.raises(Invalid, match="not a public one"):
        outbound.post("https://rebinding.example/", content=b"{}", headers={}, rules=Rules())
