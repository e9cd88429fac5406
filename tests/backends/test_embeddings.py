"""Texts in, checked vectors of an endpoint out, whatever the endpoint does."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence

import pytest
from pydantic import SecretStr

from endpoints import BAD, WIDTH, Drip, Endpoint, Hang, Reply, answer, serving, status, vector
from refdesk.backends import embeddings
from refdesk.backends.embeddings import Caps, EmbeddingsClient
from refdesk.errors import Unavailable

KEY = "sk-not-a-real-key-0123456789"
Maker = Callable[..., EmbeddingsClient]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as server:
        yield server


@pytest.fixture
def client(endpoint: Endpoint) -> Iterator[Maker]:
    """Makes clients of the endpoint."""
    made: list[EmbeddingsClient] = []

    def make(
        *, width: int = WIDTH, key: str = KEY, url: str = "", caps: Caps | None = None
    ) -> EmbeddingsClient:
        settings = embeddings.Endpoint(
            url or endpoint.url, SecretStr(key), "small", width, 1000, 1000
        )
        made.append(EmbeddingsClient(settings, caps))
        return made[-1]

    yield make
    for one in made:
        one.close()


def unit(text: str) -> list[float]:
    numbers = vector(text)
    length = math.hypot(*numbers)
    return [number / length for number in numbers]


def test_vectors_come_in_the_order_of_the_texts_with_length_one(client: Maker) -> None:
    texts = ["a disk", "the domain", "backup of logs"]
    found = client().passages(texts)
    assert found.shape == (3, WIDTH)
    for row, text in zip(found, texts, strict=True):
        assert row == pytest.approx(unit(text), abs=1e-6)


def test_model_width_and_key_are_sent_and_the_width_only_when_set(
    client: Maker, endpoint: Endpoint
) -> None:
    client().query("disk", 2.0)
    client(width=0, key="").query("disk", 2.0)
    first, second = endpoint.asked
    assert first == {"path": "/v1/embeddings", "model": "small", "input": ["disk"],
                     "dimensions": WIDTH}  # fmt: skip
    assert "dimensions" not in second
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in endpoint.headers[1]


@pytest.mark.parametrize("behaviour", BAD)
def test_an_answer_without_usable_vectors_is_refused_in_one_sentence(
    client: Maker, endpoint: Endpoint, behaviour: str, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.behave = BAD[behaviour]
    with caplog.at_level(logging.DEBUG), pytest.raises(Unavailable) as refusal:
        client().query("disk", 2.0)
    message = str(refusal.value)
    assert message.startswith("the embeddings endpoint")
    assert "\n" not in message
    assert "echoed" not in message
    assert KEY not in message + caplog.text


def test_a_redirect_is_not_followed(client: Maker, endpoint: Endpoint) -> None:
    with serving() as other:
        endpoint.behave = status(307, location=f"{other.url}/embeddings")
        with pytest.raises(Unavailable, match="redirects"):
            client().query("disk", 2.0)
        assert other.asked == []


@pytest.mark.parametrize("behaviour", [Hang, Drip])
def test_an_endpoint_that_does_not_end_is_left_in_time(
    client: Maker, endpoint: Endpoint, behaviour: type[Hang] | type[Drip]
) -> None:
    endpoint.behave = behaviour()
    started = time.monotonic()
    with pytest.raises(Unavailable, match="in time"):
        client().query("disk", 0.3)
    assert time.monotonic() - started < 2.0


def test_an_answer_without_end_is_not_read(
    client: Maker, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "MAX_BYTES_PER_TEXT", 1000)
    endpoint.behave = lambda _: Reply(b" " * 100_000)
    with pytest.raises(Unavailable, match="more than"):
        client().query("disk", 2.0)


class Moody:
    """Fails so many times, then answers."""

    def __init__(self, failures: int, code: int = 503) -> None:
        self.left = failures
        self.code = code

    def __call__(self, texts: Sequence[str]) -> Reply:
        self.left -= 1
        return status(self.code)(texts) if self.left >= 0 else answer(texts)


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_a_failure_that_may_pass_is_tried_again(
    client: Maker, endpoint: Endpoint, code: int
) -> None:
    endpoint.behave = Moody(1, code)
    assert client().query("disk", 5.0).shape == (WIDTH,)
    assert len(endpoint.asked) == 2


@pytest.mark.parametrize("code", [400, 401, 403, 404, 422])
def test_a_failure_that_stays_is_not_tried_again(
    client: Maker, endpoint: Endpoint, code: int
) -> None:
    endpoint.behave = status(code)
    with pytest.raises(Unavailable, match=str(code)):
        client().query("disk", 5.0)
    assert len(endpoint.asked) == 1


def test_waiting_longer_than_there_is_time_is_not_tried(client: Maker, endpoint: Endpoint) -> None:
    endpoint.behave = status(429, retry_after="30")
    with pytest.raises(Unavailable, match="429"):
        client().query("disk", 2.0)
    assert len(endpoint.asked) == 1


def test_a_failing_endpoint_is_soon_asked_once_for_each_call(
    client: Maker, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "_BACKOFF", 0.0)
    endpoint.behave = status(500)
    one = client()
    for _ in range(30):
        with pytest.raises(Unavailable):
            one.query("disk", 2.0)
    assert len(endpoint.asked) == 30 + 10


def test_a_width_that_changes_is_refused(client: Maker, endpoint: Endpoint) -> None:
    one = client(width=0)
    one.query("disk", 2.0)
    endpoint.behave = BAD["wrong width"]
    with pytest.raises(Unavailable, match="EMBED_DIM"):
        one.query("disk", 2.0)


def test_nobody_listening_is_unavailable(client: Maker) -> None:
    with serving() as gone:
        url = gone.url
    with pytest.raises(Unavailable, match="cannot be reached"):
        client(url=url).query("disk", 1.0)


@pytest.mark.parametrize("host", ["api.example.com", "192.0.2.1.example", "8.8.8.8"])
def test_a_key_is_not_sent_in_clear_text_to_strangers(client: Maker, host: str) -> None:
    with pytest.raises(Unavailable, match="https"):
        client(url=f"http://{host}/v1")
    client(url=f"http://{host}/v1", key="")
    client(url=f"https://{host}/v1")


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost", "10.1.2.3", "embedder"])
def test_a_key_may_be_sent_in_clear_text_within_ones_own_network(client: Maker, host: str) -> None:
    client(url=f"http://{host}/v1")


@pytest.mark.parametrize(
    ("names", "direct"),
    [
        ((), False),
        (("api.example.com",), True),
        (("API.example.com",), True),
        ((".example.com",), True),
        (("*.example.com",), True),
        (("*",), True),
        (("example.com",), False),
        ((".ample.com", "other.example"), False),
    ],
)
def test_hosts_that_need_no_proxy_are_reached_without(
    monkeypatch: pytest.MonkeyPatch, endpoint: Endpoint, names: tuple[str, ...], direct: bool
) -> None:
    monkeypatch.setenv("HTTP_PROXY", endpoint.url.removesuffix("/v1"))
    monkeypatch.setenv("http_proxy", endpoint.url.removesuffix("/v1"))
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    settings = embeddings.Endpoint(
        "http://api.example.com:1/v1", SecretStr(""), "small", WIDTH, 10, 10, names
    )
    client = EmbeddingsClient(settings)
    try:
        if not direct:
            client.query("disk", 2.0)
            assert endpoint.asked[0]["path"] == "http://api.example.com:1/v1/embeddings"
            return
        with pytest.raises(Unavailable):
            client.query("disk", 0.3)
        assert endpoint.asked == []
    finally:
        client.close()


@pytest.mark.parametrize("proxy", ["socks9://127.0.0.1:1", "socks5://127.0.0.1:1"])
def test_a_proxy_that_cannot_be_used_is_unavailable(
    monkeypatch: pytest.MonkeyPatch, client: Maker, proxy: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    monkeypatch.setenv("https_proxy", proxy)
    with pytest.raises(Unavailable, match="HTTPS_PROXY"):
        client(url="https://api.example.com/v1")


def test_a_host_that_cannot_be_looked_up_is_unavailable(client: Maker) -> None:
    with pytest.raises(Unavailable, match="cannot be reached"):
        client(url=f"http://{'a' * 70}/v1").query("disk", 0.3)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_caps_hold_in_every_minute_and_every_day() -> None:
    clock = Clock()
    caps = Caps(per_minute=3, per_day=5, clock=clock)
    assert [caps.take(2), caps.take(1)] == [0.0, 0.0]
    assert caps.take(1) == 60.0
    clock.now = 59.0
    assert caps.take(1) == 1.0
    clock.now = 60.0
    assert caps.take(2) == 0.0
    clock.now = 3600.0
    assert caps.take(1) == 86_400.0 - 3600.0
    clock.now = 86_400.0
    assert caps.take(3) == 0.0


def test_more_than_a_cap_at_once_is_never_sent() -> None:
    assert Caps(per_minute=3, per_day=5).take(4) == 60.0


def test_a_query_beyond_the_cap_is_not_sent(client: Maker, endpoint: Endpoint) -> None:
    one = client(caps=Caps(per_minute=10, per_day=1))
    one.query("disk", 2.0)
    with pytest.raises(Unavailable, match="REFDESK_EMBED_PER_DAY"):
        one.query("domain", 2.0)
    assert len(endpoint.asked) == 1


def test_a_closed_client_answers_nothing(client: Maker) -> None:
    one = client()
    one.close()
    with pytest.raises(Unavailable):
        one.query("disk", 2.0)
