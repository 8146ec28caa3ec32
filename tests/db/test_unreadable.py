"""One document that cannot be read costs its own place in the index at most, never anybody else's."""

import logging

import pytest

from skillhub.retrieval import reader as reader_module
from skillhub.retrieval.passages import passage
from skillhub.retrieval.reader import Reader
from skillhub.services import contexts
from skillhub.services.scope import Scope
from skillhub.services.search import Searcher
from tests.db.test_reader import WordEncoder, found, publish


def test_a_document_that_cannot_be_prepared_is_found_by_name_and_description(
    scope: Scope, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def breaking(*, name: str, description: str, document: str) -> str:
        if name == "tea" and document:
            raise ValueError("cannot be read")
        return passage(name=name, description=description, document=document)

    monkeypatch.setattr(reader_module, "passage", breaking)
    searcher = Searcher(Reader(scope.database, WordEncoder()), wait_seconds=10)
    publish(scope, "tea", "brew leaves")
    publish(scope, "egg", "fry in oil")
    with caplog.at_level(logging.ERROR):
        assert found(searcher, scope, "brew leaves")[0] == "tea"
    assert found(searcher, scope, "fry in oil")[0] == "egg"
    assert "'tea' is found by its name and description only" in caplog.text


def test_a_stored_document_that_newer_rules_refuse_is_shown_whole(scope: Scope) -> None:
    searcher = Searcher(Reader(scope.database, WordEncoder()), wait_seconds=10)
    publish(scope, "tea", "brew leaves")
    publish(scope, "egg", "fry in oil")
    with scope.database.engine.begin() as owner:
        owner.exec_driver_sql("ALTER TABLE version DISABLE TRIGGER USER")
        owner.exec_driver_sql("UPDATE version SET document = 'no frontmatter' WHERE document LIKE '%%brew%%'")
    batch = contexts.render(scope, searcher, tasks=["brew leaves"], k=2, token_budget=500, label="production")
    assert "no frontmatter" in batch.packed[0].text and "fry in oil" in batch.packed[0].text
