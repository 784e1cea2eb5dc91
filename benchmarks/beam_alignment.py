"""Is the attention that a beam hands out that of the words it hands out? Counted in links and in alignment error.

``python -m benchmarks.beam_alignment runs/demo-microworld`` takes a folder that ``regard demo`` left, with its test set
and gold links. Each sentence is translated with a beam; then the model is made to read its own output by forced
decoding. Links of the two are compared one by one; where the output is the reference, so that gold links apply, both
are scored by alignment error rate.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.report import markdown_table
from benchmarks.section import Table
from regard.evaluation.alignment import score_alignments
from regard.tasks.translate.predictor import Translator
from regard.text import GoldLinks, read_gold_links


@dataclass(frozen=True)
class Compared:
    """A beam's attention against that of forced decoding of the same words.

    Attributes:
        beam: how wide.
        num_sentences: translated; all of them are compared.
        num_exact: those whose output is the reference, over which errors are counted.
        num_links: of the beam, over all sentences.
        num_differing: links that one has and the other has not, over all sentences.
        beam_aer: alignment error rate of the beam's own attention.
        forced_aer: the same of forced decoding.
        alpha: the greatest difference between two weights.
        log_prob: the greatest difference between two tokens' log-probabilities.
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
) -> Compared:
    """Translate, read the output again, and compare.

    Args:
        translator: one that attends, and whose tokenizer gives back the tokens of what it wrote.
        sources: one line a sentence.
        references: what they should become.
        gold: the links between the two.
        beam: how wide.
    """
    found = translator.translate(sources, beam=beam)
    read = translator.align(sources, [one.text for one in found])
    exact = [k for k, one in enumerate(found) if one.text == references[k]]
    pairs = list(zip(found, read, strict=True))
    assert all(one.tokens == other.tokens for one, other in pairs), "the output was read in other tokens"
    return Compared(
        beam,
        len(found),
        len(exact),
        sum(len(one.links) for one in found),
        sum(len(one.links ^ other.links) for one, other in pairs),
        score_alignments([found[k].links for k in exact], [gold[k] for k in exact]).aer,
        score_alignments([read[k].links for k in exact], [gold[k] for k in exact]).aer,
        max(
            float(np.abs(one.alpha - other.alpha).max())
            for one, other in pairs
            if one.alpha is not None and other.alpha is not None
        ),
        max(
            float(np.abs(np.subtract(one.token_log_probs, other.token_log_probs)).max())
            for one, other in pairs
        ),
    )


def table(results: Sequence[Compared]) -> Table:
    """The comparisons, a row each."""
    return Table(
        "A beam's attention, and forced decoding of the same words",
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
                str(one.beam),
                str(one.num_sentences),
                str(one.num_links),
                str(one.num_differing),
                str(one.num_exact),
                f"{100 * one.beam_aer:.4f} %",
                f"{100 * one.forced_aer:.4f} %",
                f"{one.alpha:.0e}",
                f"{one.log_prob:.0e}",
            )
            for one in results
        ),
    )


def main() -> None:
    """Run the comparison on a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, help="what regard demo microworld wrote")
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 5, 12])
    parser.add_argument("--part", default="test", help="of the folder's corpus")
    asked = parser.parse_args()
    corpus = asked.folder / "corpus" / asked.part
    sources, references = (
        corpus.with_suffix(f".{side}").read_text(encoding="utf-8").splitlines()
        for side in ("source", "target")
    )
    gold = read_gold_links(corpus.with_suffix(".links"), list(zip(sources, references, strict=True)))
    translator = Translator.load(asked.folder)
    results = [compare(translator, sources, references, gold, beam) for beam in asked.beams]
    print("\n".join(markdown_table(table(results))))


if __name__ == "__main__":
    main()
