"""The least number of insertions, deletions and substitutions that turn one sequence into another.

In: two sequences of hashable items, strings or lists of words. Out: a whole number.

How good a corpus of translations is, against one reference each.

In: lines. Out: `Quality`. BLEU, chrF and TER are sacrebleu's, with its signatures; exact match and the error
rates are counted here. Knows nothing of models or of how the lines were made.

Quality by the length of the source sentence, as Bahdanau's Figure 2 shows it.

In: lines. Out: bands of source length, ascending, each with its `Quality`. Lengths are counted in
blank-separated words.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import count, pairwise
from typing import Any

from regard.errors import ConfigError, DataError, nearest


def edit_distance(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Levenshtein's distance, by Myers' bit vectors (J. ACM 46(3), 1999, in Hyyrö's form).

    A column of the table of distances goes up or down by at most 1 from cell to cell, so that it fits into
    two whole numbers with one bit a cell: where it rises, where it falls. Python's integers take any length,
    and a pair of sentences costs one pass over the second.

    Args:
        first: a sequence, such as a string or a list of words.
        second: another.
    """
    first, second = _without_shared_ends(first, second)
    if not first or not second:
        return len(first) + len(second)
    places: dict[Hashable, int] = {}  # for each item, a bit at each place of `first` where it stands
    for place, item in enumerate(first):
        places[item] = places.get(item, 0) | 1 << place
    column = (1 << len(first)) - 1
    bottom = 1 << (len(first) - 1)
    rises, falls, distance = column, 0, len(first)
    for item in second:
        match = places.get(item, 0)
        diagonal = (((match & rises) + rises) ^ rises) | match
        grows = falls | ~(diagonal | rises)  # where the row rises from the column before
        shrinks = rises & diagonal
        if grows & bottom:
            distance += 1
        elif shrinks & bottom:
            distance -= 1
        grows = grows << 1 | 1
        shrinks <<= 1
        free = match | falls
        rises = (shrinks | ~(free | grows)) & column
        falls = grows & free & column
    return distance


def _without_shared_ends(
    first: Sequence[Hashable], second: Sequence[Hashable]
) -> tuple[Sequence[Hashable], Sequence[Hashable]]:
    """Cut off what both begin with and what both end with: it costs nothing."""
    shorter = min(len(first), len(second))
    start = 0
    while start < shorter and first[start] == second[start]:
        start += 1
    end = 0
    while end < shorter - start and first[-1 - end] == second[-1 - end]:
        end += 1
    return first[start : len(first) - end], second[start : len(second) - end]


# sacrebleu's others fetch a model or need a package of their own.
TOKENIZERS = ("13a", "intl", "char", "zh", "none")


@dataclass(frozen=True)
class Quality:
    """The scores of a corpus.

    Attributes:
        bleu: 0 to 100, more is better.
        chrf: 0 to 100, more is better.
        ter: edits and shifts per 100 reference words, less is better; sacrebleu's TER knows no case. None
            where it was not asked for.
        exact_match: the fraction of lines equal to their reference, blanks at the ends apart.
        token_error_rate: edits of blank-separated tokens over all reference tokens; it can pass 1.
        character_error_rate: the same over characters, blanks included.
        num_sentences: how many lines were scored.
        signatures: how sacrebleu counted, by the name of the score: bleu, chrf, ter.
    """

    bleu: float
    chrf: float
    ter: float | None
    exact_match: float
    token_error_rate: float
    character_error_rate: float
    num_sentences: int
    signatures: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Give all scores as a JSON object."""
        return asdict(self)


def measure(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
    with_ter: bool = True,
) -> Quality:
    """Score translations against references.

    Args:
        hypotheses: one line a sentence.
        references: one line a sentence, in the same order.
        tokenize: BLEU's tokenizer, one of `TOKENIZERS`; "none" for text that is tokenised already.
        lowercase: whether case is to be overlooked.
        with_ter: whether to count TER, which takes longer than all the rest together.

    Raises:
        DataError: no lines, or not as many of one as of the other.
        ConfigError: an unknown tokenizer.
    """
    check_parallel(hypotheses=hypotheses, references=references)
    if tokenize not in TOKENIZERS:
        raise ConfigError(f"tokenize = {tokenize!r} is no tokenizer of BLEU; {nearest(tokenize, TOKENIZERS)}")
    if lowercase:
        hypotheses, references = [line.lower() for line in hypotheses], [line.lower() for line in references]
    scores, signatures = _sacrebleu_scores(hypotheses, references, tokenize, lowercase, with_ter)
    pairs = [(h.strip(), r.strip()) for h, r in zip(hypotheses, references, strict=True)]
    return Quality(
        bleu=scores["bleu"],
        chrf=scores["chrf"],
        ter=scores.get("ter"),
        exact_match=sum(h == r for h, r in pairs) / len(pairs),
        token_error_rate=_error_rate([(h.split(), r.split()) for h, r in pairs]),
        character_error_rate=_error_rate(pairs),
        num_sentences=len(pairs),
        signatures=signatures,
    )


def check_parallel(**lines: Sequence[str]) -> None:
    """Check that all sides have equally many lines, and at least one.

    Args:
        lines: each side by its name, which the error message uses.

    Raises:
        DataError: they have not.
    """
    lengths = {name: len(side) for name, side in lines.items()}
    if len(set(lengths.values())) > 1:
        counted = ", ".join(f"{length} {name}" for name, length in lengths.items())
        raise DataError(f"cannot score {counted}: give one of each for every sentence, blank lines too")
    if 0 in lengths.values():
        raise DataError(
            f"cannot score an empty corpus: no {' and no '.join(lengths)}; give at least one line"
        )


def _sacrebleu_scores(
    hypotheses: Sequence[str], references: Sequence[str], tokenize: str, lowercase: bool, with_ter: bool
) -> tuple[dict[str, float], dict[str, str]]:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    # force=True: no warning when the text looks tokenised; which tokenizer is right is the caller's to say
    metrics = {
        "bleu": BLEU(tokenize=tokenize, lowercase=lowercase, force=True),
        "chrf": CHRF(lowercase=lowercase),
    }
    if with_ter:
        metrics["ter"] = TER()
    scores = {
        name: float(metric.corpus_score(hypotheses, [references]).score) for name, metric in metrics.items()
    }
    return scores, {name: str(metric.get_signature()) for name, metric in metrics.items()}


def _error_rate(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> float:
    """Edits over the references' length; against references of no length, 0 for no edits and 1 for any."""
    edits = sum(edit_distance(hypothesis, reference) for hypothesis, reference in pairs)
    length = sum(len(reference) for _, reference in pairs)
    return edits / length if length else float(edits > 0)


_LEAST_BANDS, _MOST_BANDS = 3, 10


@dataclass(frozen=True)
class LengthBand:
    """The sentences whose source has from `lower` to `upper` words, both included, and their scores."""

    lower: int
    upper: int
    num_sentences: int
    quality: Quality

    @property
    def name(self) -> str:
        """The lengths as a reader writes them: "6–10", or "7" for a single one."""
        return f"{self.lower}" if self.lower == self.upper else f"{self.lower}–{self.upper}"

    def to_json(self) -> dict[str, Any]:
        """Give the band as a JSON object."""
        return {"lower": self.lower, "upper": self.upper, **self.quality.to_json()}


def measure_by_length(
    sources: Sequence[str],
    hypotheses: Sequence[str],
    references: Sequence[str],
    edges: Sequence[int] | None = None,
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
    with_ter: bool = True,
) -> list[LengthBand]:
    """Score a corpus band by band; every sentence falls into exactly one.

    Args:
        sources: one line a sentence; only their lengths are looked at.
        hypotheses: the translations, in the same order.
        references: what they should be, in the same order.
        edges: the greatest length of each band, ascending; longer sentences make a last band. By default
            bands of equal width, 3 to 10 of them where the lengths are many enough.
        tokenize: as in `measure`.
        lowercase: as in `measure`.
        with_ter: as in `measure`.

    Returns:
        the bands that have sentences, shortest first.

    Raises:
        DataError: no lines, or not as many of each.
        ConfigError: edges that do not ascend from 1 or more.
    """
    check_parallel(sources=sources, hypotheses=hypotheses, references=references)
    lengths = [len(line.split()) for line in sources]
    bounds = _automatic_bounds(lengths) if edges is None else _checked(edges, max(lengths))
    members: dict[int, list[int]] = defaultdict(list)
    for sentence, length in enumerate(lengths):
        members[bisect_left(bounds, length)].append(sentence)
    bands = []
    for band, sentences in sorted(members.items()):
        quality = measure(
            [hypotheses[k] for k in sentences],
            [references[k] for k in sentences],
            tokenize=tokenize,
            lowercase=lowercase,
            with_ter=with_ter,
        )
        first = bounds[band - 1] + 1 if band else 1
        lower = min(first, min(lengths[k] for k in sentences))  # 0 where a source is blank
        bands.append(LengthBand(lower, bounds[band], len(sentences), quality))
    return bands


def _automatic_bounds(lengths: Sequence[int]) -> list[int]:
    """Upper ends of bands of equal width, the first in `_widths` that makes 3 to 10 with sentences."""
    for width in _widths():
        filled = len({max(length - 1, 0) // width for length in lengths})
        if filled <= _MOST_BANDS and (filled >= _LEAST_BANDS or width == 1):
            return list(range(width, max(*lengths, 1) + width, width))
    raise AssertionError("widths grow without end")


def _widths() -> Iterator[int]:
    yield from (5, 10, 2, 1)
    for tens in count(1):
        yield from (2 * 10**tens, 5 * 10**tens, 10 * 10**tens)


def _checked(edges: Sequence[int], longest: int) -> list[int]:
    if not edges or edges[0] < 1 or any(low >= high for low, high in pairwise(edges)):
        raise ConfigError(f"edges = {list(edges)} must ascend from 1 or more, as [5, 10, 20]")
    return list(edges) + ([longest] if longest > edges[-1] else [])
