"""What somebody typed, and an index's vocabulary, in -> a Plan of weighted clauses out. Pure.

Nothing typed is syntax but `"quoted phrases"`. Every word becomes a group of clauses: the word in
each field, its synonyms, its spellings in the other script, what it was perhaps meant to be.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final, Protocol

from refdesk.model import Clause, Group, Plan
from refdesk.ranking import analysis, keyboard, persian, spelling, synonyms, transliteration
from refdesk.ranking.analysis import BODY, EXACT, GRAM, HEAD, SKEL, SLUG

MOST_WORDS: Final = 40
MOST_LETTERS: Final = 2_000


class Vocabulary(Protocol):
    """What an index knows of its terms."""

    @property
    def passages(self) -> int:
        """How many passages there are."""

    def frequency(self, field: str, term: str) -> int:
        """In how many passages' `field` the term stands."""

    def beginning(self, field: str, prefix: str, limit: int) -> Sequence[tuple[str, int]]:
        """Up to `limit` terms of the field that start with `prefix`, with their frequencies."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each kind of evidence counts; 1.0 is the typed word in a passage's body.

    Chosen on the Liara and folder questions. `python bench/quality.py` varies each alone: all lie
    on plateaus, and the choice of one random half of the questions does no better on the other
    half than these do (MRR .877 against .888 over 200 splits of the Liara questions).
    """

    head: float = 3.0
    """A heading over the passage, or the page's title."""
    slug: float = 2.5
    """A word of the page's path."""
    body: float = 1.0
    part: float = 0.8
    """A part of a compound: `health` of `healthCheck`."""
    joined: float = 1.0
    """The compound of neighbours: `filesystem` for `file system`."""
    stem: float = 0.9
    """A word without a spoken ending."""
    half: float = 0.5
    """A half of a word that was perhaps two."""
    synonym: float = 0.4
    bridge: float = 0.6
    """The spelling in the other script, times its likeness."""
    short_bridge: float = 0.5
    """Share of that for a word of few letters that the index knows as it is."""
    correction: float = 0.7
    """A known word one slip away, times its likelihood."""
    gram: float = 0.3
    gram_share: float = 0.3
    """Share of an unknown word's 4-letter pieces that a heading or path must hold."""
    guess: float = 0.7
    """Credit in the coverage for a word that is met only by what it was perhaps meant to be."""
    filler: float = 0.1
    """Share of a grammar word."""
    verb: float = 0.3
    """Share of a Persian verb."""
    pair: float = 0.5
    """Two neighbours of the query that are neighbours in the passage."""


DEFAULT: Final = Weights()

_QUOTED: Final = re.compile(r'"([^"]*)"|\u201c([^\u201c\u201d]*)\u201d|«([^«»]*)»')
_QUOTES: Final = re.compile(r'["\u201c\u201d«»]')
_CHUNK: Final = re.compile(r"\S+")
_JOINABLE: Final = 4
_MOST_GRAMS: Final = 20
_MOST_REPAIRS: Final = 12
"""Unknown words looked into: each costs about a thousand look-ups."""
_FEW: Final = 3
"""A word in no more passages than this may be a slip."""
_SHORT: Final = 4
"""Of fewer letters a word sounds like too many others to be sure."""

_LARGE: Final = 20_000
"""Passages from which filler words are sought in headings only. They stand in nearly every body,
where they cost most and tell least: without them a search among 300,000 takes 5.3 ms, not 6.9."""
_MOST_ALIKE: Final = 40
_ALIKE: Final = 0.7
_ALIKE_SHORT: Final = 0.9
"""How alike two spellings must be; words of two consonants sound like too many others."""

_FILLERS: Final = persian.FILLERS | frozenset(
    """
    a an the and or but if then else of in on at to from by for with without within into onto over
    about as is are was were be been being am do does did doing done have has had having will would
    can could should shall may might must i me my mine we our ours us you your yours he she it its
    they them their this that these those there here what which who whom whose when where why how
    not no nor so than too very just also only own same such some any each every all both more most
    other another again once because until while during before after above below up down out off
    get got gets want wants wanted need needs let lets make makes please help using use used via per
    way ways thing things something anything im ive dont doesnt cant isnt arent wont didnt
    vs etc eg ie
    """.split()
)


@dataclass(slots=True)
class _Unit:
    """One word or part of a word of the query, and the tokens it may be met by."""

    written: str
    low: str
    terms: dict[str, float]
    filler: bool
    known: bool = False
    verb: bool = False
    part: bool = False
    phrases: list[tuple[tuple[str, ...], float]] = field(default_factory=list)

    def add(self, terms: Sequence[str], weight: float) -> None:
        for term in terms:
            self.terms[term] = max(weight, self.terms.get(term, 0.0))


def plan(
    query: str, vocabulary: Vocabulary, *, synonyms: bool = True, weights: Weights = DEFAULT
) -> Plan:
    """The clauses that find what `query` asks for in the index that `vocabulary` describes.

    Any string is safe and only its first 40 words count. A query without words gives a plan
    without groups, which finds nothing.
    """
    return _Planner(vocabulary, weights, synonyms).plan(query[:MOST_LETTERS])


class _Planner:
    def __init__(self, vocabulary: Vocabulary, weights: Weights, with_synonyms: bool) -> None:
        self.vocabulary = vocabulary
        self.weights = weights
        self.with_synonyms = with_synonyms
        self.suggested: dict[str, str] = {}
        self.counts: dict[tuple[str, str], int] = {}

    def plan(self, query: str) -> Plan:
        quoted, rest = _quotes(query)
        typed = (word for text in (*quoted, rest) for word in self._typed(text))
        units = list(self._units(_seldom_repeated(typed)))
        self._spell_out(units)
        self._join(units)
        for unit in units:
            if not unit.filler:
                self._bridge(unit)
        strange = [unit for unit in units if not unit.known and not unit.filler]
        for unit in strange[:_MOST_REPAIRS]:
            self._repair(unit)
        if self.with_synonyms:
            self._say_otherwise(units)
        return Plan(
            groups=tuple(self._groups(units)),
            bonuses=tuple(self._pairs(units)),
            required=tuple(
                Clause(EXACT, tuple(phrase), 1.0)
                for phrase in map(analysis.exact_terms, quoted)
                if phrase
            ),
            suggestion=self._suggestion(query, quoted=bool(quoted)),
        )

    # -- the words as typed --

    def _typed(self, text: str) -> Iterator[str]:
        """Words, read in the other keyboard layout where only that makes sense."""
        chunks = text.split()
        readings = [self._other_layout(chunk) for chunk in chunks]
        mistaken = any(readings)
        for chunk, reading in zip(chunks, readings, strict=True):
            if mistaken and not reading:
                reading = self._companion(chunk)
            if reading:
                self.suggested[chunk] = reading
            yield from (word for _, _, word in analysis.surface(reading or chunk))

    def _other_layout(self, chunk: str) -> str:
        """What was meant by an unknown word that the other layout turns into a known one."""
        low = analysis.normalize(chunk).replace(persian.ZWNJ, "")
        if low in _FILLERS or any(self._known(word) for _, _, word in analysis.surface(chunk)):
            return ""
        if any(map(self._spelled, persian.spoken_stems(low))):
            return ""
        for reading in keyboard.other_layout(chunk):
            low = analysis.normalize(reading)
            if len(low) > 2 and low.isalpha() and (self._spelled(low) or self._sounding(low)):
                return reading
        return ""

    def _companion(self, chunk: str) -> str:
        """The same for a short word beside others that were typed in the wrong layout."""
        if self._spelled(analysis.normalize(chunk)) > _FEW:
            return ""
        for reading in keyboard.other_layout(chunk):
            low = analysis.normalize(reading)
            if reading.isalpha() and (low in _FILLERS or self._spelled(low)):
                return reading
        return ""

    def _known(self, written: str) -> bool:
        return any(self._frequency(term) for term in analysis.word_terms(written))

    def _frequency(self, term: str) -> int:
        return max(self._count(name, term) for name in (BODY, HEAD, SLUG))

    def _spelled(self, low: str) -> int:
        return self._count(EXACT, low)

    def _count(self, name: str, term: str) -> int:
        key = (name, term)
        if key not in self.counts:
            self.counts[key] = self.vocabulary.frequency(name, term)
        return self.counts[key]

    def _units(self, written: Sequence[str]) -> Iterator[_Unit]:
        for text in written:
            word = analysis.word(text)
            whole = analysis.normalize(text).replace(persian.ZWNJ, "")
            for part in word.parts or (word.whole,):
                low = part[0] if word.parts else whole
                unit = _Unit(text, low, {}, whole in _FILLERS or low in _FILLERS)
                unit.add(part, self.weights.part if word.parts else 1.0)
                unit.add(word.whole, 1.0)
                unit.known = any(self._frequency(term) for term in unit.terms)
                unit.verb = persian.is_verb(text)
                unit.part = bool(word.parts)
                yield unit

    # -- what else the words may be --

    def _spell_out(self, units: list[_Unit]) -> None:
        """Spoken letters (سی ال آی) become the abbreviation that the index knows."""
        runs = list(transliteration.spelled_out([unit.low for unit in units]))
        for start, end, spellings in reversed(runs):
            known = [spelling for spelling in spellings if self._frequency(spelling)]
            if not known:
                continue
            name = " ".join(unit.written for unit in units[start:end])
            unit = _Unit(name, known[0], {}, False, known=True)
            for abbreviation in known:
                unit.add(analysis.word_terms(abbreviation), 1.0)
            units[start:end] = [unit]

    def _join(self, units: list[_Unit]) -> None:
        """Neighbours that the index knows as one word (file system, ورد پرس) are also that word."""
        for start in range(len(units)):
            for end in range(start + 2, min(start + _JOINABLE, len(units)) + 1):
                run = units[start:end]
                if sum(unit.filler for unit in run) > len(run) // 2:
                    continue
                joined = "".join(unit.low for unit in run)
                if len(joined) > 24:
                    break
                terms = [
                    (term, self.weights.joined)
                    for term in analysis.word_terms(joined)[:1]
                    if self._frequency(term)
                ] or [
                    (term, self.weights.bridge * likeness)
                    for known, likeness in self._sounding(joined)[:1]
                    for term in analysis.word_terms(known)
                    if not joined.isascii()
                ]
                for term, weight in terms:
                    for unit in run:
                        unit.add((term,), weight)
                        unit.known = True

    def _bridge(self, unit: _Unit) -> None:
        share = self.weights.bridge
        if unit.known and len(unit.low) < _SHORT:
            share *= self.weights.short_bridge
        for known, likeness in self._sounding(unit.low):
            unit.add(analysis.word_terms(known)[:1], share * likeness)
            # An unknown Latin word is as likely a slip (wordpres), so it is repaired as well.
            unit.known = unit.known or not unit.low.isascii()

    def _sounding(self, low: str) -> list[tuple[str, float]]:
        """Words of the other script that sound like `low`, at most three, the likeliest first."""
        latin = transliteration.is_latin(low)
        if not latin and not transliteration.is_persian(low):
            return []
        found: dict[str, tuple[float, int]] = {}
        for key, other, count in self._same_key(low):
            if latin == transliteration.is_latin(other) or other in _FILLERS:
                continue
            pair = (other, low) if latin else (low, other)
            likeness = transliteration.likeness(*pair)
            if likeness >= (_ALIKE if len(key) > 2 else _ALIKE_SHORT):
                found[other] = (likeness, count)
        ranked = sorted(found, key=lambda other: (-found[other][0], -found[other][1], other))
        return [(other, found[other][0]) for other in ranked[:3]]

    def _same_key(self, low: str) -> Iterator[tuple[str, str, int]]:
        for key in transliteration.keys(low):
            for bridge, count in self.vocabulary.beginning(SKEL, key + ":", _MOST_ALIKE):
                yield key, bridge[len(key) + 1 :], count

    def _repair(self, unit: _Unit) -> None:
        """A word that the index does not know: its spoken stem, its halves, words one slip away."""
        for stem in persian.spoken_stems(unit.low):
            if stem not in _FILLERS and self._spelled(stem):
                unit.add(analysis.word_terms(stem), self.weights.stem)
                unit.known, unit.low = True, stem
                return
        halves = spelling.split(unit.low, self._spelled)
        if halves:
            unit.phrases.append((halves, 1.0))
            for half in halves:
                unit.add(analysis.word_terms(half), self.weights.half)
            return
        meant = spelling.corrections(unit.low, self._spelled) or self._misheard(unit.low)
        for known, likelihood in meant:
            unit.add(analysis.word_terms(known)[:1], self.weights.correction * likelihood)
        if meant:
            if not unit.part:
                self.suggested[unit.written] = meant[0][0]
            unit.low = meant[0][0]

    def _misheard(self, low: str) -> list[tuple[str, float]]:
        """Words of the same consonants (kubrenetis): two slips away, but only in the vowels."""
        found = {
            other: (SequenceMatcher(None, low, other).ratio(), count)
            for key, other, count in self._same_key(low)
            if len(key) >= _SHORT and low.isascii() == other.isascii()
        }
        ranked = sorted(found, key=lambda other: (-found[other][0], -found[other][1], other))
        return [(other, found[other][0]) for other in ranked[:1] if found[other][0] >= _ALIKE]

    def _say_otherwise(self, units: Sequence[_Unit]) -> None:
        start = 0
        # A part of an identifier is a name: `app.get` asks for no application and fetches nothing.
        words = ["" if unit.part and unit.low.isascii() else unit.low for unit in units]
        while start < len(units):
            taken = 1
            for length in range(min(synonyms.LONGEST, len(units) - start), 0, -1):
                others = synonyms.alternatives(words[start : start + length])
                if not others:
                    continue
                for unit in units[start : start + length]:
                    for other in others:
                        if len(other) == 1:
                            unit.add(analysis.word_terms(other[0])[:2], self.weights.synonym)
                        else:
                            unit.phrases.append((other, self.weights.synonym))
                taken = length
                break
            start += taken

    # -- the plan --

    def _groups(self, units: Sequence[_Unit]) -> Iterator[Group]:
        weights = self.weights
        fields = ((HEAD, weights.head), (SLUG, weights.slug), (BODY, weights.body))
        large = self.vocabulary.passages > _LARGE
        told = large and any(unit.known and not unit.filler for unit in units)
        for unit in units:
            yield self._group(unit, fields[:1] if unit.filler and told else fields)

    def _group(self, unit: _Unit, fields: Sequence[tuple[str, float]]) -> Group:
        weights = self.weights
        share = weights.filler if unit.filler else weights.verb if unit.verb else 1.0
        clauses = [
            Clause(name, (term,), share * weight * weights_of)
            for term, weight in unit.terms.items()
            for name, weights_of in fields
            if self._count(name, term)
        ]
        clauses += [
            Clause(EXACT, phrase, share * weight)
            for phrase, weight in unit.phrases
            if all(self._spelled(word) for word in phrase)
        ]
        if not unit.known and not unit.filler:
            grams = analysis.grams(unit.low)[:_MOST_GRAMS]
            if len(grams) > 2:
                least = math.ceil(len(grams) * weights.gram_share)
                clauses.append(Clause(GRAM, tuple(grams), weights.gram, least=least))
        credit = 1.0 if unit.known or unit.filler else weights.guess
        return Group(unit.written, tuple(clauses), share * self._rarity(unit), credit)

    def _rarity(self, unit: _Unit) -> float:
        """How much the unit tells passages apart: its inverse frequency, in nats."""
        held = max((self._frequency(term) for term in unit.terms), default=0)
        total = max(1, self.vocabulary.passages)
        return math.log(1.0 + (total - min(held, total) + 0.5) / (held + 0.5))

    def _pairs(self, units: Sequence[_Unit]) -> Iterator[Clause]:
        """Neighbouring words that also stand together in a passage say more."""
        for one, two in pairwise(units):
            if one.filler or two.filler or one.written == two.written:
                continue
            words = analysis.exact_terms(one.written)[-1:] + analysis.exact_terms(two.written)[:1]
            if len(words) == 2 and all(self._spelled(word) for word in words):
                yield Clause(EXACT, tuple(words), self.weights.pair, slop=1)

    def _suggestion(self, query: str, *, quoted: bool) -> str:
        meant = _CHUNK.sub(self._meant, query)
        if meant == query and quoted:
            meant = " ".join(_QUOTES.sub(" ", query).split())
        return meant if meant != query else ""

    def _meant(self, chunk: re.Match[str]) -> str:
        typed = chunk.group()
        if typed in self.suggested:
            return self.suggested[typed]
        for start, end, word in reversed(list(analysis.surface(typed))):
            if word in self.suggested:
                typed = typed[:start] + self.suggested[word] + typed[end:]
        return typed


def _seldom_repeated(words: Iterable[str]) -> list[str]:
    """The first 40 words, none more than twice: said twice a word weighs double, no more."""
    said: Counter[str] = Counter()
    kept: list[str] = []
    for word in words:
        said[word] += 1
        if said[word] <= 2 and len(kept) < MOST_WORDS:
            kept.append(word)
    return kept


def _quotes(query: str) -> tuple[list[str], str]:
    quoted = [next(filter(None, match.groups()), "") for match in _QUOTED.finditer(query)]
    return [text for text in quoted if text.strip()], _QUOTED.sub(" ", query)
