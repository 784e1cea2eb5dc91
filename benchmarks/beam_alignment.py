"""Does beam search return the attention of the words that it returns? Counted in links and in alignment error rate.

``python -m benchmarks.beam_alignment runs/demo-microworld`` takes a folder that ``regard demo`` wrote, with its test
set and gold links. Each sentence is translated with a beam; then forced decoding scores the same output. Their links
are compared; where the output is the reference, so that gold links apply, both get an alignment error rate.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.report import Table, markdown_table
from regard.evaluation.alignment import score_alignments
from regard.tasks.translate.predictor import Translator
from regard.text import GoldLinks, read_gold_links


@dataclass(frozen=True)
class AttentionComparison:
    """The attention of beam search against that of forced decoding of the same words.

    Attributes:
        beam: the beam width.
        num_sentences: all sentences.
        num_exact: sentences whose output is the reference; the error rates are of these.
        num_links: of beam search, over all sentences.
        num_differing: links that only one of the two has, over all sentences.
        beam_aer: alignment error rate of beam search.
        forced_aer: alignment error rate of forced decoding.
        alpha: the maximum difference of two attention weights.
        log_prob: the maximum difference of two log-probabilities of a token.
    """

    beam: int
    num_sentences: int
    num_exact: int
    num_links: int
    num_differing: int
    beam_aer: float
    forced_aer: float
    alpha: float
    log_prob: float


def compare(
    translator: Translator,
    sources: Sequence[str],
    references: Sequence[str],
    gold: Sequence[GoldLinks],
    beam: int,
) -> AttentionComparison:
    """Translate, score the output by forced decoding, and compare.

    Args:
        translator: with attention, and a tokenizer that restores the tokens of its output.
        sources: one sentence per line.
        references: their translations.
        gold: the links between the two.
        beam: the beam width.
    """
    searched = translator.translate(sources, beam=beam)
    forced = translator.align(sources, [translation.text for translation in searched])
    exact = [k for k, translation in enumerate(searched) if translation.text == references[k]]
    pairs = list(zip(searched, forced, strict=True))
    assert all(first.tokens == second.tokens for first, second in pairs), "the tokens differ"
    return AttentionComparison(
        beam,
        len(searched),
        len(exact),
        sum(len(translation.links) for translation in searched),
        sum(len(first.links ^ second.links) for first, second in pairs),
        score_alignments([searched[k].links for k in exact], [gold[k] for k in exact]).aer,
        score_alignments([forced[k].links for k in exact], [gold[k] for k in exact]).aer,
        max(
            float(np.abs(first.alpha - second.alpha).max())
            for first, second in pairs
            if first.alpha is not None and second.alpha is not None
        ),
        max(
            float(np.abs(np.subtract(first.token_log_probs, second.token_log_probs)).max())
            for first, second in pairs
        ),
    )


def table(results: Sequence[AttentionComparison]) -> Table:
    """The comparisons, one per row."""
    return Table(
        "Attention of beam search, and of forced decoding of the same words",
        (
            "beam",
            "sentences",
            "links",
            "differing",
            "exact",
            "AER, beam",
            "AER, forced",
            "Δ alpha",
            "Δ log p",
        ),
        tuple(
            (
                str(result.beam),
                str(result.num_sentences),
                str(result.num_links),
                str(result.num_differing),
                str(result.num_exact),
                f"{100 * result.beam_aer:.4f} %",
                f"{100 * result.forced_aer:.4f} %",
                f"{result.alpha:.0e}",
                f"{result.log_prob:.0e}",
            )
            for result in results
        ),
    )


def main() -> None:
    """Read the command line, compare, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, help="the folder that regard demo microworld wrote")
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 5, 12])
    parser.add_argument("--split", default="test", help="a split of the folder's corpus")
    args = parser.parse_args()
    corpus = args.folder / "corpus" / args.split
    sources, references = (
        corpus.with_suffix(f".{side}").read_text(encoding="utf-8").splitlines()
        for side in ("source", "target")
    )
    gold = read_gold_links(corpus.with_suffix(".links"), list(zip(sources, references, strict=True)))
    translator = Translator.load(args.folder)
    results = [compare(translator, sources, references, gold, beam) for beam in args.beams]
    print("\n".join(markdown_table(table(results))))


if __name__ == "__main__":
    main()
