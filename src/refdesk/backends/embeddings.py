"""Texts in, vectors of an OpenAI-compatible `/embeddings` endpoint out. Only httpx's importer.

Nothing of an endpoint is believed: its answer is bounded in size and time, redirects are not
followed, and what it sends is checked before it becomes a vector. Whatever goes wrong is one
`Unavailable` whose message repeats neither the key nor anything that the endpoint said.
"""

from __future__ import annotations

import ipaddress
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import httpx
import numpy as np
from numpy.typing import NDArray
from pydantic import SecretStr

from refdesk import __version__
from refdesk.errors import Unavailable

Matrix = NDArray[np.float32]

BATCH: Final = 64
"""Texts in one request."""
BATCH_SECONDS: Final = 60.0
"""How long one batch of passages may take, retries included."""
MAX_BYTES_PER_TEXT: Final = 256 * 1024
"""An answer longer than this for each text is not read: 8,192 numbers take less."""
_ATTEMPTS: Final = 4
_BACKOFF: Final = 0.2
_AGAIN: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_MINUTE: Final = 60.0
_DAY: Final = 86_400.0
_RETRIES_PER_SUCCESS: Final = 0.1
_RETRIES_SAVED: Final = 10.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to ask, for what, and how much of it. A `width` of 0 is the model's own."""

    base_url: str
    key: SecretStr
    model: str
    width: int
    per_minute: int
    per_day: int
    no_proxy_hosts: tuple[str, ...] = ()


class Caps:
    """How many texts may be sent in any minute and in any day."""

    def __init__(
        self, per_minute: int, per_day: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._windows = ((_MINUTE, per_minute), (_DAY, per_day))
        self._clock = clock
        self._spent: deque[tuple[float, int]] = deque()
        self._lock = threading.Lock()

    def take(self, texts: int) -> float:
        """Count `texts` as sent and return 0.0; or count nothing and return the seconds to wait."""
        with self._lock:
            now = self._clock()
            while self._spent and now - self._spent[0][0] >= _DAY:
                self._spent.popleft()
            wait = max(self._wait(now, texts, window, cap) for window, cap in self._windows)
            if wait == 0.0:
                self._spent.append((now, texts))
            return wait

    def _wait(self, now: float, texts: int, window: float, cap: int) -> float:
        """Seconds until enough of the window's spending is past; a window for more than the cap."""
        if texts > cap:
            return window
        left = cap - texts
        for when, count in reversed(self._spent):
            if now - when >= window:
                break
            left -= count
            if left < 0:
                return when + window - now
        return 0.0


class EmbeddingsClient:
    """One endpoint. Blocking, safe for many threads."""

    def __init__(self, endpoint: Endpoint, caps: Caps | None = None) -> None:
        """Prepare to ask; nothing is sent yet.

        Raises:
            Unavailable: the key would travel in clear text to a stranger's network, or the
                environment names a proxy or certificates that cannot be used.
        """
        address = urlsplit(endpoint.base_url)
        host = (address.hostname or "").lower()
        key = endpoint.key.get_secret_value()
        if key and address.scheme == "http" and not _is_near(host):
            raise Unavailable("AVALAI_BASE_URL is http: it would show the key; write https")
        self.identity = f"{endpoint.model}@{address.netloc}{address.path.rstrip('/')}"
        self.batch = min(BATCH, endpoint.per_minute, endpoint.per_day)
        self._endpoint = endpoint
        self._caps = caps or Caps(endpoint.per_minute, endpoint.per_day)
        self._retries = _Retries()
        self._width = endpoint.width
        self._closed = threading.Event()
        direct = _is_loopback(host) or _goes_direct(host, endpoint.no_proxy_hosts)
        try:
            self._client = httpx.Client(
                headers=_headers(key),
                follow_redirects=False,
                trust_env=not direct,
                verify=address.scheme != "http",  # certificates take 50 ms to load
            )
        except (ImportError, ValueError, OSError, httpx.InvalidURL) as error:
            raise Unavailable(
                "the proxy or the certificates that the environment names cannot be used "
                f"({type(error).__name__}): correct HTTPS_PROXY or SSL_CERT_FILE, or name the "
                "endpoint's host in NO_PROXY_HOSTS"
            ) from None

    def passages(self, texts: Sequence[str]) -> Matrix:
        """A unit vector for each text, in order: shape (texts, width). Waits for the caps.

        Raises:
            Unavailable: the endpoint failed, or the cap of the day is reached.
        """
        while (wait := self._caps.take(len(texts))) > 0.0:
            if wait > _MINUTE or self._closed.wait(wait):
                raise Unavailable(_spent(wait))
        return self._ask(texts, BATCH_SECONDS)

    def query(self, text: str, seconds: float) -> Matrix:
        """The unit vector of a query: shape (width,), within about `seconds`.

        Raises:
            Unavailable: the endpoint failed or was late, or a cap is reached.
        """
        if (wait := self._caps.take(1)) > 0.0:
            raise Unavailable(_spent(wait))
        vector: Matrix = self._ask([text], seconds)[0]
        return vector

    def close(self) -> None:
        """Let the connections go; calls under way fail."""
        self._closed.set()
        self._client.close()

    def _ask(self, texts: Sequence[str], seconds: float) -> Matrix:
        """Ask until there is an answer, no time, no attempt or no retry left."""
        deadline = time.monotonic() + seconds
        for attempt in range(_ATTEMPTS):
            try:
                body = self._post(texts, deadline)
            except _Again as failure:
                pause = max(failure.after, _BACKOFF * 2**attempt)
                last = attempt == _ATTEMPTS - 1
                hopeless = last or time.monotonic() + pause >= deadline or not self._retries.take()
                if hopeless or self._closed.wait(pause):
                    raise Unavailable(str(failure)) from None
            else:
                self._retries.earn()
                return self._checked(body, len(texts))
        raise Unavailable("the embeddings endpoint did not answer")

    def _post(self, texts: Sequence[str], deadline: float) -> bytes:
        endpoint = self._endpoint
        request: dict[str, object] = {"model": endpoint.model, "input": list(texts)}
        if endpoint.width:
            request["dimensions"] = endpoint.width
        left = max(deadline - time.monotonic(), 0.01)
        try:
            with self._client.stream(
                "POST", endpoint.base_url + "/embeddings", json=request, timeout=left
            ) as response:
                _accept(response)
                return _bounded(response, len(texts) * MAX_BYTES_PER_TEXT, deadline)
        except httpx.TimeoutException:
            raise Unavailable("the embeddings endpoint did not answer in time") from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, UnicodeError) as error:
            raise _Again(
                f"the embeddings endpoint cannot be reached ({type(error).__name__})"
            ) from None
        except RuntimeError:  # the client was closed
            raise Unavailable("the embeddings client is closed") from None

    def _checked(self, body: bytes, count: int) -> Matrix:
        """The vectors of an answer, each of length 1, in the order of the texts."""
        rows = _rows(body, count)
        width = self._width or len(rows[0])
        if any(len(row) != width for row in rows):
            raise Unavailable(
                f"the embeddings endpoint answered vectors of {len(rows[0])} numbers instead of "
                f"{width}: check EMBED_DIM and EMBED_MODEL"
            )
        try:
            with np.errstate(over="ignore"):
                matrix = np.array(rows, dtype=np.float32)
        except OverflowError:
            raise Unavailable(_NOT_NUMBERS) from None
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not (np.isfinite(matrix).all() and np.isfinite(lengths).all() and lengths.all()):
            raise Unavailable(_NOT_NUMBERS)
        self._width = width
        unit: Matrix = matrix / lengths
        return unit


class _Again(Exception):
    """A failure that may pass; `after` are the seconds that the endpoint asked to wait."""

    def __init__(self, message: str, after: float = 0.0) -> None:
        super().__init__(message)
        self.after = after


class _Retries:
    """Retries are earned by successes: a failing endpoint is not asked four times as often."""

    def __init__(self) -> None:
        self._saved = _RETRIES_SAVED
        self._lock = threading.Lock()

    def take(self) -> bool:
        with self._lock:
            if self._saved < 1.0:
                return False
            self._saved -= 1.0
            return True

    def earn(self) -> None:
        with self._lock:
            self._saved = min(self._saved + _RETRIES_PER_SUCCESS, _RETRIES_SAVED)


_NOT_VECTORS: Final = "the embeddings endpoint answered something else than the vectors asked for"
_NOT_NUMBERS: Final = "the embeddings endpoint answered vectors that are no finite numbers"


def _headers(key: str) -> dict[str, str]:
    # Compressed answers could not be bounded before they are unpacked.
    headers = {"user-agent": f"refdesk/{__version__}", "accept-encoding": "identity"}
    return {**headers, "authorization": f"Bearer {key}"} if key else headers


def _accept(response: httpx.Response) -> None:
    status = response.status_code
    if status == 200:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise Unavailable("the embeddings endpoint answered in an encoding not asked for")
        return
    if 300 <= status < 400:
        raise Unavailable(
            f"the embeddings endpoint redirects (status {status}), which is not followed: "
            "set AVALAI_BASE_URL to the final address"
        )
    if status in (401, 403):
        raise Unavailable(
            f"the embeddings endpoint refuses the key (status {status}): check AVALAI_API_KEY"
        )
    message = f"the embeddings endpoint answered status {status}"
    if status in _AGAIN:
        raise _Again(message, _retry_after(response.headers.get("retry-after", "")))
    raise Unavailable(f"{message}: check AVALAI_BASE_URL, EMBED_MODEL and EMBED_DIM")


def _retry_after(value: str) -> float:
    """Seconds; dates are not understood and count as 0.0."""
    digits = value.strip()
    return float(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 7 else 0.0


def _bounded(response: httpx.Response, most: int, deadline: float) -> bytes:
    body = bytearray()
    for chunk in response.iter_raw():
        body += chunk
        if len(body) > most:
            raise Unavailable("the embeddings endpoint answered more than the vectors asked for")
        if time.monotonic() > deadline:
            raise Unavailable("the embeddings endpoint did not answer in time")
    return bytes(body)


def _rows(body: bytes, count: int) -> list[list[float]]:
    """The lists of numbers in an answer, put in the order of their `index`."""
    try:
        data = json.loads(body)["data"]
        rows = {item["index"]: item["embedding"] for item in data}
        ordered = [rows[number] for number in range(count)]
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        raise Unavailable(_NOT_VECTORS) from None
    if len(data) != count or not all(isinstance(row, list) and row for row in ordered):
        raise Unavailable(_NOT_VECTORS)
    if not all(type(number) in (int, float) for row in ordered for number in row):
        raise Unavailable(_NOT_NUMBERS)
    return ordered


def _spent(wait: float) -> str:
    if wait > _MINUTE:
        return "the day's cap on embeddings is reached (REFDESK_EMBED_PER_DAY)"
    return "the minute's cap on embeddings is reached (REFDESK_EMBED_PER_MINUTE)"


def _goes_direct(host: str, names: Sequence[str]) -> bool:
    """Whether NO_PROXY_HOSTS names `host`: itself, a domain above it (`.example.com`), or `*`."""
    for name in names:
        plain = name.lower().removeprefix("*")
        if not plain or host == plain.removeprefix("."):
            return True
        if plain.startswith(".") and host.endswith(plain):
            return True
    return False


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_near(host: str) -> bool:
    """Whether `host` is this machine, a private address, or a name within one network."""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host
