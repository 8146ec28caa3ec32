"""What the web view promises: everything shown is text, nothing is fetched, and nobody gets in without a signed link."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from skillhub.services import ui_sessions
from skillhub.services.scope import Scope
from tests.api.conftest import SECRET
from tests.conftest import ROOT
from tests.db import gating
from tests.proven import NAME, SENTENCE, proven_skill

CASES = ROOT.parent / "shared" / "cases" / "hostile" / "cases.jsonl"
PAGES = ("/ui/skills", "/ui/candidates", f"/ui/skills/{NAME}", "/ui/candidates/can_1", "/ui/episodes/epi_1")


def hostile_texts() -> list[str]:
    return [json.loads(line)["markdown"] for line in Path(CASES).read_text().splitlines()] if CASES.exists() else []


class Tags(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.targets: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.targets |= {value or "" for name, value in attrs if name in ("href", "src", "action")}


@pytest.fixture
def viewer(api: TestClient) -> TestClient:
    """A browser that followed its link."""
    url = api.post("/v1/ui-sessions").json()["url"]
    del api.headers["Authorization"]
    assert api.get(url).url.path == "/ui/skills"
    return api


def assert_inert(html: str) -> None:
    tags = Tags(html)
    assert not tags.names & {"script", "img", "svg", "iframe", "style", "object", "embed", "form", "video", "math", "base"}
    assert not {name for name in tags.attributes if name.startswith("on")} | tags.attributes & {"style", "srcdoc", "xlink:href"}
    assert all(re.match(r"/ui/|#", target) for target in tags.targets), tags.targets
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", re.sub(r"<title>.*?</title>", "", html, flags=re.S))


def test_a_skill_page_leads_from_each_sentence_to_its_episodes(viewer: TestClient, scope: Scope) -> None:
    proven_skill(scope)
    page = viewer.get(f"/ui/skills/{NAME}").text
    assert SENTENCE in page and "improves on the base" in page
    targets = Tags(page).targets
    assert {"#proof-1", "/ui/candidates/can_1", "/ui/candidates/can_1#trials", "/ui/episodes/epi_1"} <= targets
    candidate = viewer.get("/ui/candidates/can_1").text
    assert "31.9" in candidate and "+1.000" in candidate
    assert "A stove." in viewer.get("/ui/episodes/epi_1").text


@pytest.mark.skipif(not CASES.exists(), reason=f"the hostile cases are not at {CASES}")
@pytest.mark.parametrize("hostile", [text for text in hostile_texts() if "\0" not in text])
def test_hostile_text_is_inert_on_every_page(viewer: TestClient, scope: Scope, hostile: str) -> None:
    claim = f"Heat it. {hostile}"
    description = json.dumps("d " + hostile[:900].replace("---", ""))
    document = f"---\nname: {NAME}\ndescription: {description}\n---\n\n{hostile}\n\n- {claim}\n"
    proven_skill(scope, document=document, claim=claim, hostile=hostile)
    for path in PAGES:
        answer = viewer.get(path)
        assert answer.status_code == 200, path
        assert_inert(answer.text)


def test_a_nul_character_is_refused_with_its_place(api: TestClient) -> None:
    document = f"---\nname: {NAME}\ndescription: d\n---\n\ntext with \0\n"
    answer = api.post("/v1/skills", json={"name": NAME, "document": document})
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"path": "/document", "line": 6, "message": "a NUL character"}]


def test_text_is_shown_as_written_and_never_evaluated(viewer: TestClient, scope: Scope) -> None:
    proven_skill(scope, hostile="{{7*7}} <b>x</b> \u202e")
    page = viewer.get("/ui/episodes/epi_1").text
    assert "{{7*7}} &lt;b&gt;x&lt;/b&gt;" in page
    assert "U+202E" in page


def test_every_page_forbids_scripts_and_foreign_hosts(viewer: TestClient, scope: Scope) -> None:
    proven_skill(scope)
    for path in (*PAGES, "/ui/skills/nothing"):
        policy = viewer.get(path).headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'self'")
        assert "script-src" not in policy and "unsafe" not in policy


@pytest.mark.parametrize(
    "path",
    [
        "/ui/nothing",
        "/ui/skills/a/b/c",
        "/ui/skills/nothing",
        "/ui/candidates/can_9",
        "/ui/episodes/epi_9",
        f"/ui/skills/{NAME}?version=9",
    ],
)
def test_what_is_not_there_is_a_page_that_says_so(viewer: TestClient, scope: Scope, path: str) -> None:
    proven_skill(scope)
    answer = viewer.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize("start", ["/", "/ui", "/ui/"])
def test_the_pages_begin_with_the_skills(api: TestClient, start: str) -> None:
    assert api.get(start, follow_redirects=False).headers["location"] == "/ui/skills"


def test_a_candidate_that_was_never_published_is_found_from_the_first_page(viewer: TestClient, scope: Scope) -> None:
    ids = [gating.propose(scope, f"Heat it {word}.").id for word in ("once", "twice", "again")]
    assert "/ui/candidates" in Tags(viewer.get("/ui/skills").text).targets
    first = viewer.get("/ui/candidates?limit=2").text
    (further,) = (target for target in Tags(first).targets if "cursor=" in target)
    rest = viewer.get(further).text
    assert [id_ for id_ in ids if id_ in first] == ids[1:] and [id_ for id_ in ids if id_ in rest] == ids[:1]
    assert first.index(ids[2]) < first.index(ids[1])


def test_a_bad_parameter_is_a_page_in_our_own_words(viewer: TestClient) -> None:
    answer = viewer.get("/ui/skills?limit=0")
    assert answer.status_code == 422
    assert answer.headers["content-type"].startswith("text/html") and "/query/limit" in answer.text


def test_pages_are_closed_without_a_session(api: TestClient) -> None:
    for path in PAGES:
        assert api.get(path).status_code == 401


def test_the_cookie_cannot_be_read_by_scripts_nor_sent_by_other_sites(api: TestClient) -> None:
    url = api.post("/v1/ui-sessions").json()["url"]
    cookie = api.get(url, follow_redirects=False).headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=lax" in cookie and "path=/ui" in cookie


def test_a_forged_an_altered_and_a_misused_token_are_refused(api: TestClient) -> None:
    link = api.post("/v1/ui-sessions").json()["url"].split("link=")[1]
    forged = ui_sessions._signed("link", workspace_id="wsp_test", key_id="x", seconds=60, secret="another")[0]
    for token in (forged, "x" + link, link[:-1], "", "é.é"):
        assert api.get("/ui/enter", params={"link": token}).status_code == 401
    assert api.get("/ui/skills", cookies={"skillhub_ui": link}).status_code == 401


def test_an_expired_link_is_refused(api: TestClient, scope: Scope) -> None:
    token, _ = ui_sessions._signed("link", workspace_id="wsp_test", key_id="x", seconds=-1, secret=SECRET)
    assert api.get("/ui/enter", params={"link": token}).status_code == 401


def test_revoking_the_key_ends_its_sessions(viewer: TestClient, scope: Scope) -> None:
    assert viewer.get("/ui/skills").status_code == 200
    with scope.database.engine.begin() as owner:
        owner.exec_driver_sql("SET ROLE skillhub_system")
        owner.exec_driver_sql("UPDATE api_key SET revoked_at = now()")
    assert viewer.get("/ui/skills").status_code == 401
