"""A folder of Markdown, AsciiDoc and text files in, a searchable library out."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, unquote_to_bytes, urlsplit

from refdesk.adapters.folder import FolderLibrary
from refdesk.backends.catalog import Catalog

_INDEX_NAMES: Final = frozenset({"index", "readme", "_index"})
_SUFFIXES: Final = frozenset({"md", "mdx", "markdown", "adoc", "asciidoc", "txt", "html"})


class MarkdownLibrary(FolderLibrary):
    """The `markdown` corpus kind: a page's address is its path below `base_url`."""

    def resolve(self, url: str) -> str | None:
        """The path of the page at `url`: with or without its final slash, suffix or fragment."""
        base = self._entry.base_url
        generation = self._current
        if not base or generation is None:
            return None
        home = urlsplit(base)
        try:
            wanted = urlsplit(url)
            same_site = (wanted.hostname, wanted.port) == (home.hostname, home.port)
        except ValueError:  # brackets or a port that cannot be
            return None
        if not same_site or wanted.username is not None:
            return None
        if not (wanted.path.rstrip("/") + "/").startswith(home.path):
            return None
        encoded = wanted.path[len(home.path) :].strip("/")
        name = unquote_to_bytes(encoded).decode("utf-8", "surrogateescape")
        return generation.addresses.get(_slug(name))

    def _addresses(self, catalog: Catalog) -> dict[str, str]:
        if not self._entry.base_url:
            return {}
        return {_slug(path): path for path in reversed(catalog.paths())}

    def _url(self, path: str, noted: str) -> str:
        if not self._entry.base_url:
            return ""
        slug = quote(_slug(path).encode("utf-8", "surrogateescape"))
        return f"{self._entry.base_url}{slug}/" if slug else self._entry.base_url


def _slug(path: str) -> str:
    """The path of a page on its site: no suffix, and a folder's own page is the folder."""
    head, _, name = path.strip("/").rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    if dot and stem and suffix.lower() in _SUFFIXES:
        name = stem
    if name.lower() in _INDEX_NAMES:
        name = ""
    return f"{head}/{name}".strip("/")
