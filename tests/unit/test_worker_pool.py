"""Which worker is refused before it can do harm, and what a process pays for talking to the broker."""

import subprocess
import sys

import pytest
from celery.exceptions import ImproperlyConfigured

from skillhub.config import Settings
from tests.conftest import ROOT
from workers.app import announcer, create_celery


@pytest.fixture
def nowhere() -> Settings:
    return Settings(broker_url="redis://127.0.0.1:1/0")


def test_a_pool_that_forks_is_refused(nowhere: Settings) -> None:
    with pytest.raises(ImproperlyConfigured, match="threads"):
        create_celery(nowhere).Worker(pool="prefork", quiet=True)


def test_only_json_is_accepted(nowhere: Settings) -> None:
    app = create_celery(nowhere)
    assert (app.conf.accept_content, app.conf.task_serializer) == (["json"], "json")


def test_an_announcement_never_fails(nowhere: Settings, caplog: pytest.LogCaptureFixture) -> None:
    announce = announcer(nowhere)
    announce("job_1")
    announce("job_2")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    announcer(Settings(broker_url=""))("job_3")


def test_a_worker_pays_for_torch_and_faiss_only_when_it_needs_them() -> None:
    check = "import sys, workers.app, workers.runner, workers.sweeper; print({'torch', 'faiss', 'fastapi'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "set()"
