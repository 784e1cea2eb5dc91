"""How good a corpus of translations is, against one reference each.

In: lines. Out: `Quality`. BLEU, chrF and TER are sacrebleu's, with its signatures; exact match and the error
rates are counted here. Knows nothing of models or of how the lines were made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from regard.errors import ConfigError, DataError, nearest
from regard.output.quality.edit_distance import edit_distance

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
