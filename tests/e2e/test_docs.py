"""What the documentation tells people to run, runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from skillhub.stack import Stack
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory):
    """Variables that lead a program to a running hub."""
    with Stack(tmp_path_factory.mktemp("hub")) as stack:
        yield os.environ | {"SKILLHUB_URL": stack.url, "SKILLHUB_API_KEY": stack.create_key("reader")}


def run(page: Path, environment: dict[str, str]) -> str:
    program = "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
    program = program.replace('"http://127.0.0.1:8420"', 'os.environ["SKILLHUB_URL"]')
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_page_on_your_own_environment_ends_with_an_accepted_skill_that_works(environment: dict[str, str]) -> None:
    lines = run(ROOT / "docs" / "your-environment.md", environment).splitlines()
    assert any(line.startswith("accepted on cook") for line in lines)
    assert lines[-3:] == ["chard 1.0", "beets 1.0", "turnips 1.0"]


def test_the_readme_can_be_followed_twice(environment: dict[str, str]) -> None:
    for _ in range(2):
        assert "skipped skill boil" in run(ROOT / "README.md", environment)
