"""Callers that wait for the model are answered together and correctly; a failure hits only the one that caused it."""

import os
import threading

import numpy as np
import pytest

from skillhub.retrieval.embed import Embedder


class Model:
    """Encodes a text as its length; holds its first call until told to go on."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.entered = threading.Event()
        self.go_on = threading.Event()

    def encode(self, texts: list[str], **_: object) -> np.ndarray:
        self.calls.append(texts)
        self.entered.set()
        self.go_on.wait(10)
        if "bad" in texts:
            raise ValueError("bad text")
        return np.array([[len(text)] for text in texts], dtype=np.float32)


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def embedder(model: Model) -> Embedder:
    embedder = Embedder()
    embedder.__dict__["_encoder"] = model
    return embedder


def test_a_text_seen_before_is_not_computed_again(embedder: Embedder, model: Model) -> None:
    model.go_on.set()
    assert embedder.encode(["a", "bb", "a"]).tolist() == [[1], [2], [1]]
    assert embedder.encode(["bb", "ccc"]).tolist() == [[2], [3]]
    assert model.calls == [["a", "bb"], ["ccc"]]


def test_callers_that_wait_are_answered_by_one_pass(embedder: Embedder, model: Model) -> None:
    answers: dict[int, list] = {}
    first = _ask(embedder, answers, 0, ["x"])
    assert model.entered.wait(10)
    others = [_ask(embedder, answers, number, ["y" * number]) for number in range(2, 6)]
    _until_waiting(embedder, 4)
    model.go_on.set()
    for thread in [first, *others]:
        thread.join(10)
    assert answers == {0: [[1]], **{number: [[number]] for number in range(2, 6)}}
    assert len(model.calls) == 2


def test_a_failure_reaches_its_caller_and_the_others_get_their_answer(embedder: Embedder, model: Model) -> None:
    answers: dict[int, list] = {}
    first = _ask(embedder, answers, 0, ["x"])
    assert model.entered.wait(10)
    others = [_ask(embedder, answers, 1, ["bad"]), _ask(embedder, answers, 2, ["yy"])]
    _until_waiting(embedder, 2)
    model.go_on.set()
    for thread in [first, *others]:
        thread.join(10)
    assert answers[0] == [[1]]
    assert (answers[1], answers[2]) == ("bad text", [[2]])


def test_a_forked_child_is_refused(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    parent = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: parent + 1)
    with pytest.raises(RuntimeError, match="fork"):
        embedder.encode(["a"])


def _ask(embedder: Embedder, answers: dict, number: int, texts: list[str]) -> threading.Thread:
    def ask() -> None:
        try:
            answers[number] = embedder.encode(texts).tolist()
        except ValueError as error:
            answers[number] = str(error)

    thread = threading.Thread(target=ask)
    thread.start()
    return thread


def _until_waiting(embedder: Embedder, count: int) -> None:
    while len(embedder._waiting) < count:
        threading.Event().wait(0.001)
