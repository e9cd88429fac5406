"""A library's pages in -> how near each is in meaning to a query out; {} whenever that fails.

The dense leg is never required: without a model, while vectors are computed and after any
failure a search has its words. One Encoder (the model) serves every library; each library has a
Leg (its vectors). numpy and httpx are imported only where a model is configured.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from refdesk.adapters.base import Progress
from refdesk.backends import generations, local_model
from refdesk.backends.catalog import Page
from refdesk.errors import Busy, OpenError, Unavailable
from refdesk.model import Dense
from refdesk.ranking import dense as ranking
from refdesk.reading import plain
from refdesk.settings import Settings

if TYPE_CHECKING:
    from refdesk.backends.vectors import Likeness, Matrix, Store

log = logging.getLogger(__name__)

FOLDER: Final = "dense"
"""Where the vectors of a library live, beside its generations."""
DEFAULT_BASE_URL: Final = "https://api.avalai.ir/v1"
HEADINGS_CHARS: Final = 150
PAGE_CHARS: Final = 400
"""How much of a page its second vector has read: headings and first words, about 120 tokens."""
CACHED_QUERIES: Final = 512
REST_SECONDS: Final = 15.0
"""After a failure words answer alone for so long, twice as long after each further one."""
MOST_REST_SECONDS: Final = 300.0
AGAIN_SECONDS: Final = 30.0
"""When computing is tried again after a failure, twice as long after each further one."""
MOST_AGAIN_SECONDS: Final = 900.0
OTHER_WRITER_SECONDS: Final = 2.0
_MISFIT: Final = "the model's query vectors are of another width than the stored ones"
_ASKERS: Final = 4
_SECTION_CHARS: Final = 2_000
_NICE: Final = 10
_POLL_SECONDS: Final = 0.2


class Embedder(Protocol):
    """A model: `identity` names it in stored vectors, `batch` is how many texts it takes."""

    identity: str
    batch: int

    def passages(self, texts: Sequence[str]) -> Matrix:
        """A unit vector for each text. Raises Unavailable."""

    def query(self, text: str, seconds: float) -> Matrix:
        """The unit vector of a query. Raises Unavailable."""

    def close(self) -> None:
        """Let go of connections and memory."""


def open_encoder(settings: Settings) -> Encoder:
    """The model that the settings choose; one that only says why there is none, never an error."""
    if settings.dense == "off":
        return Encoder(None, "turned off by REFDESK_DENSE=off")
    try:
        embedder = _embedder(settings)
    except Unavailable as error:
        log.warning("words only: %s", error)
        return Encoder(None, str(error))
    if embedder is None:
        return Encoder(None, "no embeddings endpoint is set and refdesk[dense] is not installed")
    seconds = min(settings.embed_timeout, settings.search_timeout / 2)
    return Encoder(embedder, seconds=seconds)


def _embedder(settings: Settings) -> Embedder | None:
    if not (settings.avalai_base_url or settings.avalai_api_key.get_secret_value()):
        return local_model.LocalModel() if local_model.installed() else None
    from refdesk.backends.embeddings import EmbeddingsClient, Endpoint

    return EmbeddingsClient(
        Endpoint(
            base_url=settings.avalai_base_url or DEFAULT_BASE_URL,
            key=settings.avalai_api_key,
            model=settings.embed_model,
            width=settings.embed_dim,
            per_minute=settings.embed_per_minute,
            per_day=settings.embed_per_day,
            no_proxy_hosts=settings.no_proxy_hosts,
        )
    )


class Encoder:
    """One model for all libraries: query vectors are cached, late or failed ones are None."""

    def __init__(
        self,
        embedder: Embedder | None,
        reason: str = "",
        *,
        seconds: float = 2.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`seconds` is the most that a search waits for the vector of its query."""
        self.embedder = embedder
        self._absent = reason
        self._seconds = seconds
        self._clock = clock
        self._failure = ""
        self._rest = REST_SECONDS
        self._resting_until = 0.0
        self._cache: OrderedDict[str, Matrix] = OrderedDict()
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._askers = ThreadPoolExecutor(_ASKERS, thread_name_prefix="embedding")

    @property
    def reason(self) -> str:
        """Why queries get no vector now; "" when they do."""
        if self.embedder is None:
            return self._absent
        return self._failure if self._clock() < self._resting_until else ""

    def query(self, text: str) -> Matrix | None:
        """The vector of a query, None when there is none in time."""
        words = " ".join(text.split())
        with self._lock:
            cached = self._cache.get(words)
            if cached is not None:
                self._cache.move_to_end(words)
                return cached
        if self.embedder is None or not words or self.reason:
            return None
        try:
            vector = self._ask(self.embedder, words)
        except Unavailable as error:
            self._fail(str(error))
            return None
        with self._lock:
            self._rest = REST_SECONDS
            self._cache[words] = vector
            while len(self._cache) > CACHED_QUERIES:
                self._cache.popitem(last=False)
        return vector

    def passages(self, texts: Sequence[str]) -> Matrix:
        """The vectors of a batch of texts; libraries take turns.

        Raises:
            Unavailable: the model failed.
        """
        if self.embedder is None:
            raise Unavailable(self._absent)
        with self._turn:
            return self.embedder.passages(texts)

    def close(self) -> None:
        """Let the model go; a call under way is not waited for."""
        if self.embedder is not None:
            self.embedder.close()
        self._askers.shutdown(wait=False, cancel_futures=True)

    def _ask(self, embedder: Embedder, words: str) -> Matrix:
        """Ask in a thread: whatever the other side does, the search goes on in time."""
        try:
            future = self._askers.submit(embedder.query, words, self._seconds)
        except RuntimeError:
            raise Unavailable("the library is being closed") from None
        try:
            return future.result(self._seconds)
        except TimeoutError:
            future.cancel()
            raise Unavailable(
                f"no query vector came within {self._seconds:g} s (REFDESK_EMBED_TIMEOUT)"
            ) from None

    def _fail(self, reason: str) -> None:
        with self._lock:
            fresh = reason != self._failure
            self._failure = reason
            self._resting_until = self._clock() + self._rest
            self._rest = min(self._rest * 2, MOST_REST_SECONDS)
        if fresh:
            log.warning("searches use words only for now: %s", reason)


WORDS_ONLY: Final = Encoder(None, "the library was opened without a model")
"""For whoever opens a library to read it and not to serve it."""


@dataclass(frozen=True, slots=True)
class _Corpus:
    """The texts to embed: each page's two keys, and the text of each key."""

    pages: tuple[str, ...]
    keys: tuple[tuple[bytes, bytes], ...]
    texts: Mapping[bytes, str]


class Leg:
    """The vectors of one library: computed in the background, kept between runs."""

    def __init__(self, home: Path, encoder: Encoder) -> None:
        """`home` is the library's folder below DATA_DIR."""
        self._folder = home / FOLDER
        self._encoder = encoder
        self._wake = threading.Condition()
        self._settled = threading.Event()
        self._settled.set()
        self._wanted: _Corpus | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._likeness: Likeness | None = None
        self._done = self._total = 0
        self._failure = ""
        self._misfit = ""

    @property
    def state(self) -> Dense:
        """Whether `scores` answers now; why not, or what is still being computed."""
        computing = ""
        if not self._settled.is_set():
            computing = f"computing vectors: {self._done} of {self._total} texts"
        off = self._encoder.reason or self._misfit
        reason = off or self._failure or computing
        if off or self._likeness is None:
            return Dense(False, reason or "the library has not been indexed yet")
        return Dense(True, reason)

    def scores(self, query: str) -> Mapping[str, float]:
        """Path -> how near the page is in meaning, above 0.0 and at most 1.0; {}: words only."""
        likeness = self._likeness
        if likeness is None:
            return {}
        vector = self._encoder.query(query)
        if vector is None:
            return {}
        self._misfit = "" if len(vector) == likeness.width else _MISFIT
        if self._misfit:
            return {}
        nearest = likeness.nearest(vector, least=0.0)
        return {path: ranking.share(deviation) for path, deviation in nearest.items()}

    def refresh(self, pages: Iterable[Page]) -> None:
        """Bring the vectors up to date with `pages`; call it after every refresh of the library.

        Stored vectors answer at once. New texts are embedded in the background, and until they
        are complete the last complete vectors answer.
        """
        if self._encoder.embedder is None or self._closed:
            return
        corpus = _corpus(pages)
        complete = self._recall(corpus, self._encoder.embedder)
        with self._wake:
            if self._closed or (complete and self._thread is None):
                return
            self._wanted = corpus
            self._settled.clear()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="vectors", daemon=True)
                self._thread.start()
            self._wake.notify_all()

    def finish(self, progress: Progress | None = None) -> bool:
        """Wait until the vectors are complete or computing them has failed; whether they are."""
        while not self._settled.wait(_POLL_SECONDS):
            if progress is not None and self._total:
                progress(self._done, self._total)
        if progress is not None and self._total:
            progress(self._done, self._total)
        return self._likeness is not None and not self._failure

    def close(self) -> None:
        """Stop computing after the batch under way; what is computed is kept."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        self._likeness = None

    def _recall(self, corpus: _Corpus, embedder: Embedder) -> bool:
        """Install what is stored, if that is enough; whether nothing is left to be written."""
        from refdesk.backends import vectors

        store = vectors.Store(self._folder, embedder.identity)
        rows = store.load()
        if not corpus.texts.keys() <= rows.keys():
            return False
        self._install(corpus, rows)
        return store.corpus == vectors.corpus(corpus.texts)

    # In the background thread

    def _run(self) -> None:
        _step_back()
        while (corpus := self._next()) is not None:
            pause = AGAIN_SECONDS
            while not self._superseded():
                try:
                    self._compute(corpus)
                    self._settle("")
                    break
                except Busy:
                    self._wait(OTHER_WRITER_SECONDS)
                except (Unavailable, OpenError) as error:
                    log.warning("vectors in %s are not complete: %s", self._folder, error)
                    self._settle(str(error))
                    self._wait(pause)
                    pause = min(pause * 2, MOST_AGAIN_SECONDS)

    def _next(self) -> _Corpus | None:
        with self._wake:
            self._wake.wait_for(self._superseded)
            corpus, self._wanted = self._wanted, None
            return None if self._closed else corpus

    def _superseded(self) -> bool:
        return self._closed or self._wanted is not None

    def _wait(self, seconds: float) -> None:
        with self._wake:
            self._wake.wait_for(self._superseded, seconds)

    def _settle(self, failure: str) -> None:
        with self._wake:
            self._failure = failure
            if self._wanted is None:
                self._settled.set()

    def _compute(self, corpus: _Corpus) -> None:
        """Install the vectors of `corpus`, computing those that are missing.

        Raises:
            Busy: another process is computing them.
            Unavailable, OpenError: the model failed or the folder cannot be written.
        """
        from refdesk.backends import vectors

        embedder = self._encoder.embedder
        if embedder is None:
            return
        store = vectors.Store(self._folder, embedder.identity)
        rows = store.load()
        wanted = vectors.corpus(corpus.texts)
        if store.corpus != wanted or not corpus.texts.keys() <= rows.keys():
            with generations.writing(self._folder):
                rows = store.load()
                self._embed(corpus, rows, store, embedder.batch)
                if self._superseded():
                    return
                if corpus.texts:
                    store.publish({key: rows[key] for key in corpus.texts})
        self._install(corpus, rows)

    def _embed(self, corpus: _Corpus, rows: dict[bytes, Matrix], store: Store, batch: int) -> None:
        """Add the missing rows, texts of like length together: a batch lasts as its longest."""
        width = len(next(iter(rows.values()))) if rows else 0
        missing = sorted(corpus.texts.keys() - rows.keys(), key=lambda key: len(corpus.texts[key]))
        self._done, self._total = 0, len(missing)
        for start in range(0, len(missing), batch):
            if self._superseded():
                return
            keys = missing[start : start + batch]
            matrix = self._encoder.passages([corpus.texts[key] for key in keys])
            if width and matrix.shape[1] != width:
                rows.clear()
                store.forget()
                raise Unavailable("the model's vectors changed their width: all are computed anew")
            width = matrix.shape[1]
            store.note(keys, matrix)
            rows.update(zip(keys, matrix, strict=True))
            self._done += len(keys)

    def _install(self, corpus: _Corpus, rows: Mapping[bytes, Matrix]) -> None:
        from refdesk.backends import vectors

        if corpus.pages:
            pairs = [(rows[name], rows[content]) for name, content in corpus.keys]
            self._likeness = vectors.Likeness.of(corpus.pages, pairs)


def texts(page: Page) -> tuple[str, str]:
    """What of a page is embedded: its title and path; its headings and first words.

    The path tells pages of one title apart. One vector for each, their likeness averaged, found
    more than one for the whole page or one for each passage.
    """
    stem, dot, suffix = page.path.rpartition(".")
    slug = stem if dot and "/" not in suffix else page.path
    words = slug.replace("/", " ").replace("-", " ").replace("_", " ").replace(".", " ")
    name = f"{page.title}\n{' '.join(words.split())}"
    headings = " · ".join(
        dict.fromkeys(s.title for s in page.sections if s.title and s.title != page.title)
    )
    content = f"{headings[:HEADINGS_CHARS]}\n{_first_words(page)}".strip()
    return name, content[:PAGE_CHARS] or name


def _first_words(page: Page) -> str:
    words = ""
    for section in page.sections:
        text = plain(section.text[:_SECTION_CHARS], section.file or page.path)
        words = f"{words} {' '.join(text.removeprefix(section.title).split())}".strip()
        if len(words) >= PAGE_CHARS:
            break
    return words


def _corpus(pages: Iterable[Page]) -> _Corpus:
    from refdesk.backends import vectors

    paths: list[str] = []
    pairs: list[tuple[bytes, bytes]] = []
    known: dict[bytes, str] = {}
    for page in pages:
        name, content = texts(page)
        pair = (vectors.key(name), vectors.key(content))
        known[pair[0]], known[pair[1]] = name, content
        paths.append(page.path)
        pairs.append(pair)
    return _Corpus(tuple(paths), tuple(pairs), known)


def _step_back() -> None:
    """Let searches go first: on Linux a thread and what it starts have a priority of their own."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
