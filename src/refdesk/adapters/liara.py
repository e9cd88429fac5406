"""The Markdown pages of the Liara documentation in, a searchable library out.

`path` is a checkout of the site's repository, a bare clone of it, or the folder of pages itself.
"""

from __future__ import annotations

import logging
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Final

from refdesk.adapters.base import Progress
from refdesk.adapters.folder import FolderLibrary
from refdesk.adapters.indexing import Folder
from refdesk.adapters.preparing import Reader
from refdesk.backends import checkout
from refdesk.backends.catalog import Catalog, Located
from refdesk.errors import OpenError
from refdesk.manifest import LibraryEntry
from refdesk.model import Changes, Document, Platform, Survey
from refdesk.reading import liara as pages

log = logging.getLogger(__name__)

PAGES: Final = "public/llms"
"""Where the repository keeps its pages."""
PLATFORMS: Final = "paas/"
CANONICAL: Final = ("how-tos/deploy-app.md", "quick-start.md", "getting-started.md")
"""What the folder of a platform holds; other folders beside them lack one or all of these."""
_EXPORTED: Final = "source-"
_ID_LENGTH: Final = 16
_EVERY: Final = 1 << 40

_platform = re.compile(r'"platform"\s*:\s*"([a-z0-9][a-z0-9-]{0,39})"').findall


@dataclass(frozen=True, slots=True)
class _Marks:
    """What one generation tells about its corpus as a whole."""

    generation: Path
    shared: frozenset[str] = frozenset()
    platforms: tuple[Platform, ...] = ()
    known: Mapping[str, str] | None = None


class LiaraLibrary(FolderLibrary):
    """The `liara` corpus kind: a page's address is the one in its first line."""

    def __init__(self, entry: LibraryEntry, data_dir: Path) -> None:
        """Open the library; an index that is already there answers at once.

        Raises:
            OpenError: there are no pages at the path.
        """
        self._marks = _Marks(Path())
        self._languages: tuple[Path, Mapping[str, int]] = (Path(), {})
        super().__init__(entry, data_dir)

    def resolve(self, url: str) -> str | None:
        """The path of the page at `url`, however its address was written."""
        generation = self._current
        slug = pages.slug_of(url)
        return None if generation is None or slug is None else generation.addresses.get(slug)

    def fetch(self, path: str) -> Document:
        """The document at `path`, its relative links made absolute.

        Raises:
            NotFound: there is none; near misses are suggested.
            Unavailable: the first index is still being built.
        """
        document = super().fetch(path)
        known = self._known()
        sections = tuple(
            replace(
                section,
                text=pages.with_absolute_links(section.text, path, document.url, known),
            )
            for section in document.sections
        )
        return replace(document, sections=sections)

    def refresh(self, *, force: bool = False, progress: Progress | None = None) -> Changes:
        """Index what has changed; of a bare clone, what its newest commit holds.

        Raises:
            Busy: another process is indexing this library.
            OpenError: the pages cannot be read, or DATA_DIR not be written.
        """
        changes = super().refresh(force=force, progress=progress)
        for left in self.folder.home.glob(f"{_EXPORTED}*"):
            if left != self.folder.root:
                shutil.rmtree(left, ignore_errors=True)
        return changes

    def platforms(self) -> Sequence[Platform]:
        """The platforms that have a folder of deployment pages, in order of name."""
        return self._marked().platforms

    def survey(self) -> Survey | None:
        """Commit, dates, counts and languages; None while the first index is being built."""
        generation = self._current
        if generation is None:
            return None
        if self._languages[0] != generation.folder:
            self._languages = generation.folder, _languages(generation.catalog)
        catalog = generation.catalog
        return Survey(
            library=self._entry.name,
            commit=catalog.meta.get("commit", ""),
            committed=catalog.meta.get("committed", ""),
            ingested=catalog.meta.get("built", ""),
            documents=catalog.documents,
            sections=catalog.sections,
            languages=self._languages[1],
        )

    def _reader(self) -> Reader:
        return pages.read

    def _located(self) -> Folder:
        path = self._entry.path
        inner = path / PAGES
        if inner.is_dir():
            if not inner.resolve().is_relative_to(path.resolve()):
                raise OpenError(
                    f"library {self._entry.name!r}: {inner} leads out of the library; "
                    "replace the link by the folder itself"
                )
            return self._noting(inner, _known_repository(path))
        repository = checkout.repository(path)
        if repository is not None:
            return self._exported(repository)
        inside = path.parts[-2:] == tuple(PAGES.split("/"))
        return self._noting(path, _known_repository(path.parents[1]) if inside else None)

    def _exported(self, repository: Path) -> Folder:
        """The pages of a repository that lie in no working tree, written below DATA_DIR."""
        commit = checkout.head(repository)
        if commit is None:
            raise OpenError(
                f"library {self._entry.name!r}: the newest commit of {repository} cannot be read; "
                "see that git is installed and the clone complete"
            )
        target = self.folder.home / f"{_EXPORTED}{commit.id[:_ID_LENGTH]}"
        if not target.is_dir():
            checkout.export(repository, commit.id, PAGES, target)
        return self._noting(target, repository)

    def _noting(self, root: Path, repository: Path | None) -> Folder:
        commit = checkout.head(repository) if repository is not None else None
        known = commit or checkout.Commit("", "")
        facts = {"commit": known.id, "committed": known.date}
        return replace(self.folder, root=root, facts=facts)

    def _addresses(self, catalog: Catalog) -> dict[str, str]:
        """A page that lies where its address says wins over one that only claims it."""
        found: dict[str, str] = {}
        for url, path in catalog.addresses():
            slug = pages.slug_of(url)
            if slug is not None and (slug not in found or path == f"{slug}.md"):
                found[slug] = path
        return found

    def _url(self, path: str, noted: str) -> str:
        return noted if noted and self.resolve(noted) == path else ""

    def _snapshot(self, mtime: int) -> str:
        generation = self._current
        committed = generation.catalog.meta.get("committed", "") if generation else ""
        return committed[:10] or super()._snapshot(mtime)

    def _breadcrumb(self, place: Located) -> tuple[str, ...]:
        """The folders too, where the title alone does not tell the page from others."""
        if place.document_title not in self._marked().shared:
            return place.section.breadcrumb
        return (*place.path.split("/")[:-1], *place.section.breadcrumb)

    def _known(self) -> Mapping[str, str]:
        return self._marked().known or {}

    def _marked(self) -> _Marks:
        generation = self._current
        if generation is None:
            return _Marks(Path())
        marks = self._marks
        if marks.generation != generation.folder:
            titles = Counter(title for _, title in generation.catalog.entries("", "", _EVERY))
            marks = _Marks(
                generation.folder,
                frozenset(title for title, count in titles.items() if count > 1),
                _platforms(self._entry.name, generation.catalog),
                {slug: f"{pages.SITE}{slug}/" for slug in generation.addresses},
            )
            self._marks = marks
        return marks


def _known_repository(path: Path) -> Path | None:
    """The repository whose commit dates the pages; None where there is none to be trusted."""
    try:
        return checkout.repository(path)
    except OpenError as error:
        log.warning("%s; the pages are dated by their files", error)
        return None


def _platforms(library: str, catalog: Catalog) -> tuple[Platform, ...]:
    paths = set(catalog.paths())
    ends = [path.removesuffix(CANONICAL[0]) for path in paths if path.endswith("/" + CANONICAL[0])]
    found: dict[str, Platform] = {}
    for folder in sorted(ends):
        inner = folder.removeprefix(PLATFORMS).rstrip("/")
        if not folder.startswith(PLATFORMS) or not inner or "/" in inner:
            continue
        if all(folder + name in paths for name in CANONICAL):
            called = _name(catalog, folder)
            name = called if called and called not in found else inner
            found[name] = Platform(name, library, folder)
    return tuple(found[name] for name in sorted(found))


def _name(catalog: Catalog, folder: str) -> str:
    """What the platform's own pages write as its name in liara.json, "" if they do not."""
    counts: Counter[str] = Counter()
    for name in CANONICAL:
        page = catalog.page(folder + name)
        for section in page.sections if page else ():
            counts.update(_platform(section.text))
    return counts.most_common(1)[0][0] if counts else ""


def _languages(catalog: Catalog) -> Mapping[str, int]:
    counts: Counter[str] = Counter()
    for _, passages in groupby(catalog.texts(), lambda row: row[0]):
        counts[pages.language("\n".join(text for _, text in passages)) or "none"] += 1
    return dict(sorted(counts.items()))
