"""Attention as query, key and value, each number shown: "The early bird catches the worm".

Nothing is trained. Vectors and matrices are drawn by lot with one digit after the point, so that queries, keys and
values are exact as they are printed and the rest can be checked by hand. What decides: the matrix form gives the
same as word by word, the weights sum to 1, and the new vectors lie among the values they are averages of.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.errors import DataError, nearest
from regard.lab.bench import Bench, Check, Experiment, Finding, Verdict
from regard.lab.figures.bird import draw_bird, remark_bird, tabulate_bird
from regard.lab.measures.lookup import draw_given, drawn, matrix_form, similarities, sticks_out
from regard.ops.attention.masked_softmax import attend, masked_softmax
from regard.ops.attention.query_key_value.naive import query_key_value
from regard.output.wording import power_of_ten

SENTENCE = "The early bird catches the worm | bird"
_MOST_WORDS = 12  # more would leave the page
_CLOSE = 1e-12  # some thousand roundings of a number of size 1 in float64


@dataclass(frozen=True)
class Sizes:
    """How large everything is.

    Attributes:
        word: d, the numbers in a word's vector x_i.
        key: p, those in a query, a key and a value; the lecture lets values have another number, r.
        directions: along how many directions it is asked whether a new vector sticks out of its values.
    """

    word: int
    key: int
    directions: int


USUAL = Sizes(word=4, key=3, directions=1_000)
FULL = Sizes(word=4, key=3, directions=100_000)


def run(bench: Bench) -> Finding:
    """Work the sentence of the lecture, or the user's."""
    return find(bench, bench.choose(USUAL, FULL))


def find(bench: Bench, sizes: Sizes) -> Finding:
    """Compute everything in float64, and draw it."""
    words, chosen = parse_text(bench.text or SENTENCE)
    given = draw_given(words, sizes.word, sizes.key, bench.seed)
    Q, K, V = given.W_Q @ given.X, given.W_K @ given.X, given.W_V @ given.X  # (p, n) each
    Z, A = matrix_form(Q, K, V)
    X, mask = given.X.T.unsqueeze(0), torch.ones(1, len(words), dtype=torch.bool)
    by_word, by_word_alpha = query_key_value(X, X, mask, given.W_Q, given.W_K, given.W_V)
    difference = max(_most(by_word[0] - Z.T), _most(by_word_alpha[0] - A.T))

    rng = random.Random(f"directions {bench.seed}")
    directions = drawn(rng, sizes.directions, sizes.key, digits=6)
    energies = similarities(given, Q, K)
    kinds: dict[str, Any] = {}
    for kind, energy in energies.items():
        new, alpha = attend(energy, V.T.unsqueeze(0), mask)
        kinds[kind] = {
            "energies": energy[0, chosen].tolist(),
            "weights": alpha[0, chosen].tolist(),
            "new": new[0, chosen].tolist(),
            "sum_error": _most(alpha.sum(dim=-1) - 1),
            "least_weight": float(alpha.min()),
            "sticks_out": sticks_out(new[0], V.T, directions),
        }
    others = mask.clone()
    others[0, chosen] = len(words) == 1
    without = masked_softmax(energies["scaled dot"], others)[0, chosen]
    numbers = {
        "seed": bench.seed,
        "words": words,
        "chosen": chosen,
        **{
            name: getattr(given, name).tolist()
            for name in ("X", "W_Q", "W_K", "W_V", "W", "W_a", "U_a", "v_a")
        },
        "Q": Q.tolist(),
        "K": K.tolist(),
        "V": V.tolist(),
        "dots": energies["dot"][0, chosen].tolist(),
        "Z": Z.tolist(),
        "similarities": kinds,
        "weights_without_itself": without.tolist(),
        "difference": difference,
        "raw_sticks_out": sticks_out((energies["scaled dot"][0] @ V.T), V.T, directions),
    }
    drawings, grids = draw_bird(numbers), tabulate_bird(numbers)
    return Finding(numbers, verdict(numbers), drawings, grids, remark_bird(numbers))


def parse_text(text: str) -> tuple[list[str], int]:
    """Cut "a sentence | word" into its words and the place of the word; without one, the last.

    Raises:
        DataError: there is no word, there are too many, or the one asked for is not among them.
    """
    sentence, _, asked = text.partition("|")
    words, asked = sentence.split(), asked.strip()
    if not 1 <= len(words) <= _MOST_WORDS:
        raise DataError(f"bird: {sentence.strip()!r} has {len(words)} words; give from 1 to {_MOST_WORDS}")
    if asked and asked not in words:
        raise DataError(
            f"bird: {asked!r} is no word of {sentence.strip()!r}; {nearest(asked, list(dict.fromkeys(words)))}"
        )
    return words, words.index(asked) if asked else len(words) - 1


def _most(difference: Tensor) -> float:
    return float(difference.abs().max())


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """Four identities; see `EXPERIMENT.decides`."""
    kinds = numbers["similarities"].values()
    sums, out = max(k["sum_error"] for k in kinds), max(k["sticks_out"] for k in kinds)
    least = min(k["least_weight"] for k in kinds)
    checks = [
        Check(
            "largest difference between matrix form and word by word",
            numbers["difference"],
            "at most",
            _CLOSE,
            control=True,
        ),
        Check("largest distance of a sum of weights from 1", sums, "at most", _CLOSE, control=True),
        Check("smallest weight", least, "at least", 0.0, control=True),
        Check(
            "most that a new vector sticks out of the hull of the values",
            out,
            "at most",
            _CLOSE,
            control=True,
        ),
    ]
    difference, smallest, apart = (power_of_ten(each) for each in (numbers["difference"], least, sums))
    return Verdict(
        checks,
        f"V softmax(KᵀQ/√p) and the sum over words differ by {difference} at most. With the four similarities every "
        f"weight is at least {smallest}, their sums are within {apart} of 1, and along no direction does a new vector "
        f"get further out of the hull of the values than {_signed(out, 3)} (below 0 is inside). With similarities that "
        f"are not normalised it is {_signed(numbers['raw_sticks_out'], 2)} outside.",
    )


def _signed(number: float, digits: int) -> str:
    """With a true minus."""
    return f"{number:.{digits}f}".replace("-", "−")


EXPERIMENT = Experiment(
    name="bird",
    title="A word looked up: query, key and value",
    claim="“Attention is a fancy name for weighted average”: a word's query is compared with every word's key, and the "
    "softmax of the similarities averages the values; V softmax(KᵀQ/√p) does it for all words at once.",
    source="“Attention”: “Generalized definition”, “Calculating Attention for the Word ‘bird’”, “Matrix Form”",
    method="For the words of a sentence, “The early bird catches the worm” where no other is given, vectors are drawn "
    "by lot, d = 4 numbers with one digit after the point, and so are W_Q, W_K and W_V, which make p = 3 of them. The "
    "new vector of one word, there “bird”, is computed word by word as a learner would, and for all words by the "
    "matrix form, in float64. Four similarities (dot, scaled dot, general, additive) are the toolkit's own. Whether a "
    "new vector is an average of the values is asked without looking at the weights: an average sticks out of what it "
    "averages in no direction.",
    decides="The two forms differ by at most 10⁻¹² and the weights sum to 1 as closely: some thousand roundings of "
    "float64 (10⁻¹⁶ each) for numbers of size 1, so only arithmetic that is the same in both passes. No weight is "
    "negative, and no new vector sticks out of the convex hull of the values by more than 10⁻¹² along "
    f"{USUAL.directions:,} directions ({FULL.directions:,} in the long run). All of this for every word and all four "
    "similarities. These are identities: the arithmetic is shown, and only a fault could break it.",
    run=run,
    seconds=2,
    text="a sentence of up to 12 words; after a |, the word to look from",
)
