"""The figures, the table and the remarks of the experiment on the bird.

In: its numbers. Out: drawings with captions, a table, remarks. Nothing is measured here.

Attention as query, key and value, each number shown: "The early bird catches the worm".

Nothing is trained. Vectors and matrices are drawn by lot with one digit after the point, so that queries, keys and
values are exact as they are printed and the rest can be checked by hand. What decides: the matrix form gives the
same as word by word, the weights sum to 1, and the new vectors lie among the values they are averages of.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.errors import DataError, nearest
from regard.evaluation.metrics import power_of_ten
from regard.lab.measures.lookup import FORMULAE, draw_given, drawn, matrix_form, similarities, sticks_out
from regard.lab.runner import Bench, Check, Drawing, Experiment, Finding, Grid, Verdict
from regard.ops.attention.masked_softmax import attend, masked_softmax
from regard.ops.attention.query_key_value.naive import query_key_value
from regard.plots.figures.worked_example import draw_attention_steps, draw_projections, draw_similarities


def draw_bird(numbers: Mapping[str, Any]) -> list[Drawing]:
    """The way of one word from its query to its new vector, where the vectors come from, and four similarities."""
    words, chosen, kinds = numbers["words"], numbers["chosen"], numbers["similarities"]
    word, scaled = words[chosen], kinds["scaled dot"]
    X, Q, K, V = (_rows(numbers[name]) for name in "XQKV")
    return [
        Drawing(
            "lookup",
            f"The new vector of “{word}”, step by step from left to right: its query meets each word's key, the "
            "softmax over all the words makes weights of the similarities, and the values are averaged by them. The "
            "darker a weight's ground, the greater the weight; the weights sum to 1.",
            draw_attention_steps(
                words, chosen, Q[chosen], K, V, numbers["dots"], scaled["energies"], scaled["weights"]
            ),
        ),
        Drawing(
            "vectors",
            "Where queries, keys and values come from: each word's vector x, written as a row, times the three "
            "matrices. What is drawn by lot has one digit after the point, so the two digits of q, k and v are exact.",
            draw_projections(
                words, chosen, X, {name: numbers[name] for name in ("W_Q", "W_K", "W_V")}, (Q, K, V)
            ),
        ),
        Drawing(
            "similarities",
            f"Four similarities of the query of “{word}” with every key, the matrices that they need, and the weights "
            "each leads to. The matrices are chance, so the weights differ; that they sum to 1 does not hang on the "
            "similarity.",
            draw_similarities(
                words,
                chosen,
                {name: numbers[name] for name in ("W", "W_a", "U_a")}
                | {"v_a": [[x] for x in numbers["v_a"]]},
                {(kind, FORMULAE[kind]): (each["energies"], each["weights"]) for kind, each in kinds.items()},
            ),
        ),
    ]


def _rows(columns: Sequence[Sequence[float]]) -> list[list[float]]:
    """A matrix whose columns are words, a word a row."""
    return [list(row) for row in zip(*columns, strict=True)]


def tabulate_bird(numbers: Mapping[str, Any]) -> list[Grid]:
    """What leaving the word itself out of the list would change."""
    words, scaled = numbers["words"], numbers["similarities"]["scaled dot"]
    rows = [
        [word, f"{with_it:.3f}", f"{without:.3f}"]
        for word, with_it, without in zip(
            words, scaled["weights"], numbers["weights_without_itself"], strict=True
        )
    ]
    word = words[numbers["chosen"]]
    grid = Grid(
        f"The weights of “{word}” (qᵀk/√p), with its own key among the keys and without.",
        ["word", f"with “{word}”", f"without “{word}”"],
        rows,
    )
    return [grid]


def remark_bird(numbers: Mapping[str, Any]) -> list[str]:
    """What is chance here and what is not, and the slips of the lecture."""
    chosen = numbers["chosen"]
    word, own = numbers["words"][chosen], numbers["similarities"]["scaled dot"]["weights"][chosen]
    return [
        "The vectors and matrices are drawn by lot, not learnt: which word gets the greatest weight means nothing. "
        "What holds for any numbers is the arithmetic. Training would move the matrices so that useful words get it.",
        "Slips of the lecture. It prints Σ_i a_{t,i} = 0 beside the weights; 1 is meant, as its softmax gives. It has "
        "softmax(⟨W_Qᵀ e_bird, W_Kᵀ e_The⟩) of one number at a time; the softmax of one number is 1 whatever the "
        "number, and what is meant is one softmax over the numbers of all the words. One slide has qᵀWWk for the qᵀWk "
        "of the slide before. Queries are W_Qᵀ e first and W_Q x later: the same, with the matrix transposed.",
        "The lecture compares the query of “bird” with “the key vectors of other words”, then lists all six words, "
        "“bird” among them, and then leaves it out of the softmaxes and of the sum. The matrix form keeps it: column i "
        "of KᵀQ has an entry for every word. "
        f"Here “{word}” gives {100 * own:.0f} % of its weight to itself; the table shows both. And the lecture calls "
        "the new vector v_bird, which is the name of the word's value; here it is the sum at the foot of the figure.",
        "attention(q, k, v) = Σ similarity(q, k_i) × v_i is a weighted average only where the similarities have been "
        f"normalised. With qᵀk/√p itself in the place of the weights a new vector sticks out of the values by "
        f"{numbers['raw_sticks_out']:.2f}.",
    ]


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
