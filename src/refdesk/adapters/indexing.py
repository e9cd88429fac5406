"""A folder and its last index generation in, the next generation out: only what changed is read.

Files are read, sectioned and analysed in worker processes when there is enough to do; one
process writes.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from refdesk import __version__
from refdesk.adapters import workers
from refdesk.adapters.base import Progress
from refdesk.adapters.preparing import (
    Prepared,
    Reader,
    Refused,
    prepare,
    prepare_all,
)
from refdesk.backends import files, generations
from refdesk.backends.catalog import Catalog, CatalogWriter, Source
from refdesk.backends.files import Stat
from refdesk.backends.lexical import LexicalWriter
from refdesk.errors import OpenError
from refdesk.model import Changes
from refdesk.reading import read

FORMAT: Final = "2"
"""Raise it when the meaning of stored rows or tokens changes: libraries are then built anew."""
LEXICAL: Final = "lexical"

_RACY_NS: Final = 2_000_000_000
"""A file changed this short a time before it was read may change again unnoticed by its stat:
file systems keep time stamps as coarse as two seconds (FAT)."""
_PARALLEL_BYTES: Final = 1_500_000
"""Below this, starting worker processes costs more than they save."""
_BATCH_BYTES: Final = 150_000


@dataclass(frozen=True, slots=True)
class Folder:
    """What to index: the folder, its patterns, and where its generations live.

    `facts` are noted in the generation beside its pages; a change of theirs makes a new one.
    """

    name: str
    adapter: str
    root: Path
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    home: Path
    reader: Reader = read
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Difference:
    """How the folder differs from the last generation."""

    fresh: dict[str, Stat] = field(default_factory=dict)
    changed: dict[str, tuple[int, Stat]] = field(default_factory=dict)
    touched: dict[str, tuple[int, Source]] = field(default_factory=dict)
    gone: dict[str, int] = field(default_factory=dict)
    unchanged: int = 0

    @property
    def empty(self) -> bool:
        return not (self.fresh or self.changed or self.touched or self.gone)


def update(folder: Folder, *, force: bool = False, progress: Progress | None = None) -> Changes:
    """Publish a generation that matches the folder as it is now; nothing, if it already does.

    Raises:
        Busy: another process is writing this library.
        OpenError: the folder cannot be read, holds nothing to serve, or DATA_DIR is not writable.
    """
    tree = scan(folder)
    with generations.writing(folder.home):
        try:
            return _update(folder, tree, force=force, progress=progress)
        except OSError as error:
            raise OpenError(
                f"library {folder.name!r}: the index in {folder.home} cannot be written "
                f"({error.strerror or error}); the last good one stays in use"
            ) from error


def scan(folder: Folder) -> files.Tree:
    """The files to serve.

    Raises:
        OpenError: the folder is missing, or the rules leave nothing in it.
    """
    if not folder.root.is_dir():
        raise OpenError(
            f"library {folder.name!r}: {folder.root} is not a folder; "
            "correct its `path` in corpus.toml or create it"
        )
    tree = files.walk(folder.root, folder.include, folder.exclude)
    if tree.files:
        return tree
    left_out = "; ".join(f"{skip.count} {skip.reason}" for skip in tree.skips.summary())
    raise OpenError(
        f"library {folder.name!r}: no document found in {folder.root} "
        f"({left_out or 'the folder is empty'}); check `path`, `include` and `exclude`"
    )


def stamp(adapter: str) -> str:
    """What a stored generation must carry to be continued by this version."""
    return f"{FORMAT}/{__version__}/{adapter}"


def _update(folder: Folder, tree: files.Tree, *, force: bool, progress: Progress | None) -> Changes:
    published = generations.current(folder.home)
    previous = Catalog.open_if_sound(published) if published else None
    try:
        continued = (
            previous is not None
            and not force
            and previous.meta.get("stamp") == stamp(folder.adapter)
        )
        known = previous.sources() if previous is not None and continued else {}
        difference = _compare(folder.root, tree.files, known)
        noted = previous is not None and folder.facts.items() <= previous.meta.items()
        if continued and noted and difference.empty and previous is not None:
            return Changes(unchanged=difference.unchanged, skipped=previous.skips())
        base = published if continued else None
        last_ids = previous.last_ids() if previous is not None else (0, 0)
        return _build(folder, tree, difference, base, last_ids, progress)
    finally:
        if previous is not None:
            previous.close()


def _compare(
    root: Path, found: Mapping[str, Stat], known: Mapping[str, tuple[int, Source]]
) -> _Difference:
    difference = _Difference()
    for path, stat in found.items():
        if path not in known:
            difference.fresh[path] = stat
            continue
        document, source = known[path]
        if not _includes_unchanged(root, source):
            difference.changed[path] = (document, stat)
        elif _looks_unchanged(stat, source):
            difference.unchanged += 1
        elif _digest(root, path) == source.digest:
            difference.unchanged += 1
            if (stat.size, stat.mtime, stat.ctime) != (source.size, source.mtime, source.ctime):
                difference.touched[path] = (document, _restamped(source, stat))
        else:
            difference.changed[path] = (document, stat)
    difference.gone = {path: known[path][0] for path in known if path not in found}
    return difference


def _looks_unchanged(stat: Stat, source: Source) -> bool:
    same = (stat.size, stat.mtime, stat.ctime) == (source.size, source.mtime, source.ctime)
    return same and max(stat.mtime, stat.ctime) < source.seen - _RACY_NS


def _includes_unchanged(root: Path, source: Source) -> bool:
    for path, noted in source.includes.items():
        stat = files.status(root, path)
        if ((stat.size, stat.mtime) if stat else (-1, -1)) != noted:
            return False
    return True


def _restamped(source: Source, stat: Stat) -> Source:
    return Source(stat.size, stat.mtime, stat.ctime, time.time_ns(), source.digest, source.includes)


def _digest(root: Path, path: str) -> bytes:
    try:
        return hashlib.sha256(files.read(root, path)).digest()
    except OSError:
        return b""


def _build(
    folder: Folder,
    tree: files.Tree,
    difference: _Difference,
    base: Path | None,
    last_ids: tuple[int, int],
    progress: Progress | None,
) -> Changes:
    building = generations.begin(folder.home)
    if base is not None:
        generations.link_tree(base / LEXICAL, building / LEXICAL)
    catalog = CatalogWriter(building, base)
    if base is None:
        (building / LEXICAL).mkdir()
        catalog.continue_ids(*last_ids)
    lexical = LexicalWriter(building / LEXICAL)
    try:
        changes = _write(folder, tree, difference, catalog, lexical, progress)
        lexical.close()
        built = datetime.now(UTC).isoformat(timespec="seconds")
        meta = {**folder.facts, "stamp": stamp(folder.adapter), "built": built}
        catalog.close(meta, tree.skips.summary())
    except BaseException:
        catalog.abort()
        lexical.close()
        raise
    generations.publish(building)
    return changes


def _write(
    folder: Folder,
    tree: files.Tree,
    difference: _Difference,
    catalog: CatalogWriter,
    lexical: LexicalWriter,
    progress: Progress | None,
) -> Changes:
    replaced = {path: document for path, (document, _) in difference.changed.items()}
    for document in (*replaced.values(), *difference.gone.values()):
        catalog.remove(document)
        lexical.delete(document)
    for document, source in difference.touched.values():
        catalog.touch(document, source)
    work = difference.fresh | {path: stat for path, (_, stat) in difference.changed.items()}
    new = updated = done = 0
    for result in _prepare_all(folder, work):
        done += 1
        if progress is not None:
            progress(done, len(work))
        if isinstance(result, Refused):
            tree.skips.add(result.reason, result.path)
            continue
        document, ids = catalog.add(
            result.path,
            result.title,
            result.source,
            result.sections,
            result.passages,
            result.url,
        )
        for passage, tokens in zip(ids, result.fields, strict=True):
            lexical.add(passage, document, tokens)
        if result.path in replaced:
            updated += 1
        else:
            new += 1
    lexical.commit()
    lost = len(replaced) - updated
    return Changes(
        new=new,
        updated=updated,
        removed=len(difference.gone) + lost,
        unchanged=difference.unchanged,
        skipped=tree.skips.summary(),
    )


def _prepare_all(folder: Folder, work: Mapping[str, Stat]) -> Iterator[Prepared | Refused]:
    if workers.CORES == 1 or sum(stat.size for stat in work.values()) < _PARALLEL_BYTES:
        for path in work:
            yield prepare(folder.root, path, folder.reader)
        return
    calls = ((folder.root, batch, folder.reader) for batch in _batches(work))
    yield from workers.each(prepare_all, calls)


def _batches(work: Mapping[str, Stat]) -> Iterable[list[str]]:
    """Files in groups of about equal size, the large ones first."""
    batch: list[str] = []
    size = 0
    for path in sorted(work, key=lambda path: (-work[path].size, path)):
        batch.append(path)
        size += work[path].size
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
