"""Metrics of text: functions of the output lines and one reference line each.

In: hypotheses and references, parallel, already lowercased where case does not count. Out: one number for the corpus.
BLEU, chrF and TER are sacrebleu's. A rate is a fraction: 0.25 is 25 %. Knows nothing of models; the table in
`metrics` says how each number is shown and which direction is better.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from regard.errors import DataError

Lines = Sequence[str]
LineUnit = Literal["words", "symbols", "characters"]
"""What a line consists of: the words of running text, blank-separated symbols such as phones, or characters."""


@dataclass(frozen=True)
class TextOptions:
    """How text is compared.

    Attributes:
        tokenize: BLEU's tokenizer, one of `quality.TOKENIZERS`.
        lowercase: whether case is ignored.
        unit: what a line consists of.
    """

    tokenize: str = "13a"
    lowercase: bool = False
    unit: LineUnit = "words"


def line_length(line: str, unit: LineUnit) -> int:
    """How many words, symbols or characters a line has; blanks at its ends are not counted."""
    return len(line.strip()) if unit == "characters" else len(line.split())


@dataclass(frozen=True)
class Sacrebleu:
    """A corpus metric of sacrebleu, with its signature.

    Args:
        build: options → sacrebleu's metric; imports sacrebleu when it is called.
    """

    build: Callable[[TextOptions], Any]

    def __call__(self, hypotheses: Lines, references: Lines, options: TextOptions) -> float:
        """The score of a corpus."""
        return float(self.build(options).corpus_score(hypotheses, [references]).score)

    def by_sentence(self, hypotheses: Lines, references: Lines, options: TextOptions) -> list[float]:
        """The score of each line by itself."""
        metric = self.build(options)
        pairs = zip(hypotheses, references, strict=True)
        return [float(metric.sentence_score(hypothesis, [line]).score) for hypothesis, line in pairs]

    def signature(self, options: TextOptions) -> str:
        """Sacrebleu's description of how it counts; it is complete only after a score was computed."""
        metric = self.build(options)
        metric.corpus_score(["a"], [["a"]])
        return str(metric.get_signature())


@dataclass(frozen=True)
class Rate:
    """A metric that is a ratio of two sums over the lines, such as edits over reference symbols.

    Args:
        count: a hypothesis, its reference and options → the line's share of the numerator and of the denominator.
    """

    count: Callable[[str, str, TextOptions], tuple[float, float]]

    def __call__(self, hypotheses: Lines, references: Lines, options: TextOptions) -> float:
        """The rate of a corpus."""
        counts = self.by_sentence(hypotheses, references, options)
        return ratio(sum(numerator for numerator, _ in counts), sum(denominator for _, denominator in counts))

    def by_sentence(
        self, hypotheses: Lines, references: Lines, options: TextOptions
    ) -> list[tuple[float, float]]:
        """Numerator and denominator of each line."""
        pairs = zip(hypotheses, references, strict=True)
        return [self.count(hypothesis, reference, options) for hypothesis, reference in pairs]


def ratio(numerator: float, denominator: float) -> float:
    """The ratio of two counts; if the denominator is 0, 0 for a numerator of 0 and 1 for any other."""
    return numerator / denominator if denominator else float(numerator > 0)


def _build_bleu(options: TextOptions) -> Any:
    from sacrebleu.metrics.bleu import BLEU

    # force: no warning about text that looks tokenised; the caller chooses the tokenizer
    return BLEU(tokenize=options.tokenize, lowercase=options.lowercase, force=True)


def _build_chrf(options: TextOptions) -> Any:
    from sacrebleu.metrics.chrf import CHRF

    return CHRF(lowercase=options.lowercase)


def _build_ter(options: TextOptions) -> Any:
    from sacrebleu.metrics.ter import TER

    return TER()


bleu = Sacrebleu(_build_bleu)
chrf = Sacrebleu(_build_chrf)
ter = Sacrebleu(_build_ter)


def _count_match(hypothesis: str, reference: str, options: TextOptions) -> tuple[float, float]:
    return float(hypothesis.strip() == reference.strip()), 1.0


def _count_wrong(hypothesis: str, reference: str, options: TextOptions) -> tuple[float, float]:
    return float(hypothesis.strip() != reference.strip()), 1.0


def _count_token_edits(hypothesis: str, reference: str, options: TextOptions) -> tuple[float, float]:
    tokens = reference.split()
    return float(edit_distance(hypothesis.split(), tokens)), float(len(tokens))


def _count_character_edits(hypothesis: str, reference: str, options: TextOptions) -> tuple[float, float]:
    line = reference.strip()
    return float(edit_distance(hypothesis.strip(), line)), float(len(line))


def _count_phone_edits(hypothesis: str, reference: str, options: TextOptions) -> tuple[float, float]:
    per_symbol = _count_token_edits if options.unit == "symbols" else _count_character_edits
    return per_symbol(hypothesis, reference, options)


exact_match = Rate(_count_match)
"""The fraction of lines equal to their reference, blanks at both ends ignored."""

word_error_rate = Rate(_count_wrong)
"""WER as grapheme-to-phoneme conversion and inflection define it: the fraction of wrong output lines.

A line is one word, spelled or transcribed, so a word is wrong if any of its symbols is. In running text this is
not the WER of speech recognition, which is `token_error_rate`.
"""

phone_error_rate = Rate(_count_phone_edits)
"""PER: edit distance over phones or characters, over the number of them in the references; it can exceed 1."""

token_error_rate = Rate(_count_token_edits)
"""Edit distance over blank-separated tokens, over the number of reference tokens; it can exceed 1."""

character_error_rate = Rate(_count_character_edits)
"""Edit distance over characters, blanks included, over the number of reference characters; it can exceed 1."""


def check_parallel(**lines: Sequence[object]) -> None:
    """Check that all sides have the same number of lines, and at least one.

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


def nearest_reference(hypothesis: str, references: Lines, options: TextOptions) -> str:
    """Of several references the one with the fewest edits to a hypothesis, the first of equals.

    Args:
        hypothesis: a line of output.
        references: at least one.
        options: what is edited, words or symbols between blanks or characters, and whether case counts.
    """

    def items(line: str) -> Sequence[str]:
        compared = line.lower() if options.lowercase else line
        return compared.strip() if options.unit == "characters" else compared.split()

    output = items(hypothesis)
    return min(references, key=lambda reference: edit_distance(output, items(reference)))


def edit_distance(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Levenshtein distance, by Myers' bit vectors (J. ACM 46(3), 1999, in Hyyrö's form).

    Neighbouring cells of a column of the distance table differ by at most 1, so a column fits into two integers
    with one bit per cell: where it rises and where it falls. Python's integers have any length, and a pair of
    sentences costs one pass over the second.

    Args:
        first: a sequence of hashable items, such as a string or a list of words.
        second: another one.
    """
    first, second = _without_shared_ends(first, second)
    if not first or not second:
        return len(first) + len(second)
    places: dict[Hashable, int] = {}  # for each item, a bit at each of its positions in `first`
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
    """Drop the common prefix and suffix, which need no edits."""
    shorter = min(len(first), len(second))
    start = 0
    while start < shorter and first[start] == second[start]:
        start += 1
    end = 0
    while end < shorter - start and first[-1 - end] == second[-1 - end]:
        end += 1
    return first[start : len(first) - end], second[start : len(second) - end]
