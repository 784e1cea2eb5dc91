"""Attention as query, key and value, each number shown: "The early bird catches the worm".

Nothing is trained. Vectors and matrices are random with one digit after the point, so that products of two are exact
with two digits, and everything else can be checked by hand; words are columns, as in the lecture. What decides: the
matrix form gives the same as the computation word by word, the weights sum to 1, and the new vectors are in the convex
hull of the values they are averages of.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.config import Config
from regard.errors import DataError, nearest
from regard.evaluation.metrics import power_of_ten
from regard.lab.runner import (
    Bench,
    CaptionedFigure,
    Check,
    Experiment,
    Finding,
    Table,
    Verdict,
    read_registration,
)
from regard.ops.attention.additive import additive_energies
from regard.ops.attention.bilinear import bilinear_energies, bilinear_keys
from regard.ops.attention.dot import dot_energies, scaled_dot_energies
from regard.ops.attention.masked_softmax import attend, masked_softmax
from regard.ops.attention.query_key_value.naive import query_key_value
from regard.plots.figures.worked_example import draw_attention_steps, draw_projections, draw_similarities

SENTENCE = "The early bird catches the worm | bird"
FORMULAE = {
    "dot": "qᵀk",
    "scaled dot": "qᵀk/√p",
    "general": "qᵀWk",
    "additive": "v_aᵀ tanh(W_a q + U_a k)",
}
_MOST_WORDS = 12  # more would not fit on the page


@dataclass(frozen=True)
class BirdSizes(Config):
    """The size of the example.

    Attributes:
        word: d, the size of a word's vector x_i.
        key: p, the size of a query, a key and a value; the lecture allows values another size, r.
        directions: along which a new vector is compared with its values.
        seeds: samples of vectors and matrices; the first is shown.
    """

    word: int
    key: int
    directions: int
    seeds: int


REGISTERED = read_registration(__file__, BirdSizes.from_mapping)
BOUNDS = REGISTERED.bounds


@dataclass(frozen=True)
class RandomParameters:
    """Random numbers with one digit after the point; words are columns, as in the lecture.

    Attributes:
        X: the words' vectors, (d, n); equal words have equal ones.
        W_Q: (p, d).
        W_K: (p, d).
        W_V: (p, d); the lecture's r is p here.
        W: of the similarity qᵀWk, (p, p).
        W_a: of the query in the additive similarity, (p, p).
        U_a: of the key in it, (p, p).
        v_a: its vector, (p,).
    """

    X: Tensor
    W_Q: Tensor
    W_K: Tensor
    W_V: Tensor
    W: Tensor
    W_a: Tensor
    U_a: Tensor
    v_a: Tensor


def sample_parameters(words: Sequence[str], d: int, p: int, seed: int) -> RandomParameters:
    """Sample the words' vectors and all matrices; the matrices do not depend on the sentence.

    Args:
        words: of the sentence.
        d: the size of a word's vector.
        p: the size of a query, a key and a value.
        seed: equal seeds give equal numbers.
    """
    rng = random.Random(f"bird {seed}")
    shapes = {"W_Q": (p, d), "W_K": (p, d), "W_V": (p, d), "W": (p, p), "W_a": (p, p), "U_a": (p, p)}
    matrices = {name: _random_matrix(rng, *shape) for name, shape in shapes.items()}
    v_a = _random_matrix(rng, 1, p)[0]
    vectors = {word: _random_matrix(random.Random(f"bird {seed} {word}"), 1, d)[0] for word in words}
    return RandomParameters(torch.stack([vectors[word] for word in words], dim=1), **matrices, v_a=v_a)


def _random_matrix(rng: random.Random, rows: int, columns: int, digits: int = 1) -> Tensor:
    """Normally distributed numbers of deviation 0.8, rounded, in float64."""
    return torch.tensor(
        [[round(rng.gauss(0, 0.8), digits) + 0.0 for _ in range(columns)] for _ in range(rows)],
        dtype=torch.float64,
    )


def measure(bench: Bench, sizes: BirdSizes) -> Finding:
    """Compute everything in float64, for the lecture's sentence or the user's, with every seed."""
    seeds = bench.seeds(sizes.seeds)
    runs = [compute(bench.text or SENTENCE, sizes, seed) for seed in seeds]
    numbers = {**runs[0], "seeds": seeds, "runs": runs}
    return Finding(
        numbers, verdict(runs), make_figures(numbers), make_tables(numbers), write_remarks(numbers)
    )


def compute(text: str, sizes: BirdSizes, seed: int) -> dict[str, Any]:
    """Every number of one sample of vectors and matrices, by four similarities."""
    words, chosen = parse_text(text)
    given = sample_parameters(words, sizes.word, sizes.key, seed)
    Q, K, V = given.W_Q @ given.X, given.W_K @ given.X, given.W_V @ given.X  # (p, n) each
    Z, A = matrix_form(Q, K, V)
    X, mask = given.X.T.unsqueeze(0), torch.ones(1, len(words), dtype=torch.bool)
    by_word, by_word_alpha = query_key_value(X, X, mask, given.W_Q, given.W_K, given.W_V)
    difference = max(_largest(by_word[0] - Z.T), _largest(by_word_alpha[0] - A.T))
    unscaled, _ = query_key_value(X, X, mask, given.W_Q, given.W_K, given.W_V, scaled=False)

    rng = random.Random(f"directions {seed}")
    directions = _random_matrix(rng, sizes.directions, sizes.key, digits=6)
    energies = similarities(given, Q, K)
    kinds: dict[str, Any] = {}
    for kind, energy in energies.items():
        new, alpha = attend(energy, V.T.unsqueeze(0), mask)
        kinds[kind] = {
            "energies": energy[0, chosen].tolist(),
            "weights": alpha[0, chosen].tolist(),
            "new": new[0, chosen].tolist(),
            "sum_error": _largest(alpha.sum(dim=-1) - 1),
            "least_weight": float(alpha.min()),
            "sticks_out": outside_hull(new[0], V.T, directions),
        }
    others = mask.clone()
    others[0, chosen] = len(words) == 1
    without = masked_softmax(energies["scaled dot"], others)[0, chosen]
    parameters = {
        name: getattr(given, name).tolist() for name in ("X", "W_Q", "W_K", "W_V", "W", "W_a", "U_a", "v_a")
    }
    return {
        "seed": seed,
        "words": words,
        "chosen": chosen,
        **parameters,
        "Q": Q.tolist(),
        "K": K.tolist(),
        "V": V.tolist(),
        "dots": energies["dot"][0, chosen].tolist(),
        "Z": Z.tolist(),
        "similarities": kinds,
        "weights_without_itself": without.tolist(),
        "difference": difference,
        "unscaled": unscaled[0, chosen].tolist(),
        "raw_sticks_out": outside_hull((energies["scaled dot"][0] @ V.T), V.T, directions),
    }


def parse_text(text: str) -> tuple[list[str], int]:
    """Split "a sentence | word" into its words and the index of the word; without one, the last.

    Raises:
        DataError: there is no word, there are too many, or the chosen one is not among them.
    """
    sentence, _, word = text.partition("|")
    words, word = sentence.split(), word.strip()
    if not 1 <= len(words) <= _MOST_WORDS:
        raise DataError(f"bird: {sentence.strip()!r} has {len(words)} words; give from 1 to {_MOST_WORDS}")
    if word and word not in words:
        raise DataError(
            f"bird: {word!r} is not a word of {sentence.strip()!r}; {nearest(word, list(dict.fromkeys(words)))}"
        )
    return words, words.index(word) if word else len(words) - 1


def matrix_form(Q: Tensor, K: Tensor, V: Tensor) -> tuple[Tensor, Tensor]:
    """Z = V softmax(KᵀQ/√p) as the lecture prints it, words as columns, and the softmax of each column."""
    A = (K.T @ Q / math.sqrt(K.shape[0])).softmax(dim=0)  # (n, n)
    return V @ A, A  # (r, n)


def similarities(given: RandomParameters, Q: Tensor, K: Tensor) -> dict[str, Tensor]:
    """Four comparisons of every query with every key, each (1, n, n): a row for each query."""
    query, keys = Q.T.unsqueeze(0), K.T.unsqueeze(0)
    return {
        "dot": dot_energies(query, keys),
        "scaled dot": scaled_dot_energies(query, keys),
        "general": bilinear_energies(query, bilinear_keys(keys, given.W), given.W),
        "additive": additive_energies(query @ given.W_a.T, keys @ given.U_a.T, given.v_a),
    }


def outside_hull(points: Tensor, values: Tensor, directions: Tensor) -> float:
    """The largest distance of a point outside the convex hull of the values, along the directions; ≤ 0 inside.

    A point is in the hull if it is beyond all values in no direction: uᵀz ≤ max_i uᵀv_i for every unit vector u.
    """
    u = directions / directions.norm(dim=1, keepdim=True)
    return float(((points @ u.T) - (values @ u.T).amax(dim=0)).max())


def _largest(difference: Tensor) -> float:
    return float(difference.abs().max())


def verdict(runs: Sequence[Mapping[str, Any]]) -> Verdict:
    """Four identities, each where it is furthest from true; see `EXPERIMENT.decides`."""
    kinds = [kind for run in runs for kind in run["similarities"].values()]
    apart, tolerance = max(run["difference"] for run in runs), BOUNDS["tolerance"]
    sums, outside = max(k["sum_error"] for k in kinds), max(k["sticks_out"] for k in kinds)
    least = min(k["least_weight"] for k in kinds)
    checks = [
        Check(
            "largest difference between matrix form and word by word",
            apart,
            "at most",
            tolerance,
            control=True,
        ),
        Check("largest difference of a sum of weights from 1", sums, "at most", tolerance, control=True),
        Check("smallest weight", least, "at least", 0.0, control=True),
        Check(
            "largest distance of a new vector outside the hull of the values",
            outside,
            "at most",
            tolerance,
            control=True,
        ),
    ]
    difference, smallest, from_one = (power_of_ten(each) for each in (apart, least, sums))
    return Verdict(
        checks,
        f"V softmax(KᵀQ/√p) and the sum over words differ by {difference} at most. With the four similarities every "
        f"weight is at least {smallest}, their sums are within {from_one} of 1, and along no direction is a new vector "
        f"further outside the hull of the values than {_signed(outside, 3)} (below 0 is inside). With similarities "
        f"that are not normalised it is {_signed(runs[0]['raw_sticks_out'], 2)} outside.",
    )


def _signed(number: float, digits: int) -> str:
    """With a typographic minus; as a power of ten where all digits would be 0."""
    if 0 < abs(number) < 0.5 * 10**-digits:
        return power_of_ten(number, 1)
    return f"{number:.{digits}f}".replace("-", "−")


def make_figures(numbers: Mapping[str, Any]) -> list[CaptionedFigure]:
    """The steps from one word's query to its new vector, the projections, and four similarities."""
    words, chosen, kinds = numbers["words"], numbers["chosen"], numbers["similarities"]
    word, scaled = words[chosen], kinds["scaled dot"]
    X, Q, K, V = (_word_rows(numbers[name]) for name in "XQKV")
    return [
        CaptionedFigure(
            "lookup",
            f"The new vector of “{word}”, step by step from left to right: its query is compared with each word's key, "
            "the softmax over all the words turns the similarities into weights, and the values are averaged by them. "
            "The darker the background of a weight, the greater the weight; the weights sum to 1.",
            draw_attention_steps(
                words, chosen, Q[chosen], K, V, numbers["dots"], scaled["energies"], scaled["weights"]
            ),
        ),
        CaptionedFigure(
            "vectors",
            "Where queries, keys and values come from: each word's vector x, written as a row, times the three "
            "matrices. The random numbers have one digit after the point, so the two digits of q, k and v are exact.",
            draw_projections(
                words, chosen, X, {name: numbers[name] for name in ("W_Q", "W_K", "W_V")}, (Q, K, V)
            ),
        ),
        CaptionedFigure(
            "similarities",
            f"Four similarities of the query of “{word}” with every key, the matrices that they need, and the weights "
            "that follow from each. The matrices are random, so the weights differ; that they sum to 1 does not depend "
            "on the similarity.",
            draw_similarities(
                words,
                chosen,
                {name: numbers[name] for name in ("W", "W_a", "U_a")}
                | {"v_a": [[x] for x in numbers["v_a"]]},
                {(kind, FORMULAE[kind]): (each["energies"], each["weights"]) for kind, each in kinds.items()},
            ),
        ),
    ]


def _word_rows(columns: Sequence[Sequence[float]]) -> list[list[float]]:
    """A matrix whose columns are words, transposed."""
    return [list(row) for row in zip(*columns, strict=True)]


def make_tables(numbers: Mapping[str, Any]) -> list[Table]:
    """What changes if the word itself is left out of the keys."""
    words, scaled = numbers["words"], numbers["similarities"]["scaled dot"]
    rows = [
        [word, f"{with_it:.3f}", f"{without:.3f}"]
        for word, with_it, without in zip(
            words, scaled["weights"], numbers["weights_without_itself"], strict=True
        )
    ]
    word = words[numbers["chosen"]]
    caption = f"The weights of “{word}” (qᵀk/√p), with its own key among the keys and without."
    return [Table(caption, ["word", f"with “{word}”", f"without “{word}”"], rows)]


def write_remarks(numbers: Mapping[str, Any]) -> list[str]:
    """What is random here and what is not, and the errors of the lecture."""
    chosen = numbers["chosen"]
    word, own = numbers["words"][chosen], numbers["similarities"]["scaled dot"]["weights"][chosen]
    largest = max(
        abs(one - other)
        for one, other in zip(numbers["unscaled"], numbers["similarities"]["dot"]["new"], strict=True)
    )
    return [
        "The vectors and matrices are random, not trained: which word gets the greatest weight means nothing. What "
        "holds for any numbers is the arithmetic. Training would change the matrices so that useful words get it.",
        "Errors in the lecture. It prints Σ_i a_{t,i} = 0 beside the weights; 1 is meant, as its softmax gives. It has "
        "softmax(⟨W_Qᵀ e_bird, W_Kᵀ e_The⟩) of one number at a time; the softmax of one number is 1 whatever the "
        "number, and what is meant is one softmax over the numbers of all the words. One slide has qᵀWWk for the qᵀWk "
        "of the slide before. Queries are W_Qᵀ e first and W_Q x later: the same, with the matrix transposed.",
        "The lecture compares the query of “bird” with “the key vectors of other words”, then lists all six words, "
        "“bird” among them, and then leaves it out of the softmaxes and of the sum. The matrix form keeps it: column i "
        "of KᵀQ has an entry for every word. "
        f"Here “{word}” gives {100 * own:.0f} % of its weight to itself; the table shows both. And the lecture calls "
        "the new vector v_bird, which is the name of the word's value; here it is the sum at the bottom of the figure.",
        "The slides on “bird”, and lecture 3 with Vᵀ softmax(K q), have no 1/√p; the matrix form has it. Without it, "
        f"the sum over the words is that of the dot product in the figure, to {power_of_ten(largest)}.",
        "attention(q, k, v) = Σ similarity(q, k_i) × v_i is a weighted average only if the similarities are "
        "normalised. With qᵀk/√p itself instead of the weights a new vector is outside the hull of the values by "
        f"{numbers['raw_sticks_out']:.2f}.",
    ]


EXPERIMENT = Experiment(
    name="bird",
    title="A word looked up: query, key and value",
    claim="“Attention is a fancy name for weighted average”: a word's query is compared with every word's key, and the "
    "softmax of the similarities averages the values; V softmax(KᵀQ/√p) does it for all words at once.",
    source="“Attention”: “Generalized definition”, “Calculating Attention for the Word ‘bird’”, “Matrix Form”",
    method="For the words of a sentence, “The early bird catches the worm” by default, random vectors are sampled, "
    "d = 4 numbers with one digit after the point, and so are W_Q, W_K and W_V, which project them to p = 3. The new "
    "vector of one word, by default “bird”, is computed word by word as a student would, and for all words by the "
    "matrix form, in float64. Four similarities (dot, scaled dot, general, additive) are the toolkit's own. Whether a "
    "new vector is an average of the values is tested without using the weights: an average is outside of what it "
    "averages in no direction.",
    decides="The two forms differ by at most 10⁻¹² and the weights sum to 1 as closely: some thousand roundings of "
    "float64 (10⁻¹⁶ each) for numbers of size 1, so only arithmetic that is the same in both passes. No weight is "
    "negative, and no new vector is outside the convex hull of the values by more than 10⁻¹² along "
    f"{REGISTERED.usual.directions:,} directions ({REGISTERED.full.directions:,} in the longer run). All of this for "
    f"every word, all four similarities and {REGISTERED.usual.seeds} samples. These are identities: the arithmetic is "
    "shown, and only a bug could break it.",
    measure=measure,
    usual=REGISTERED.usual,
    full=REGISTERED.full,
    registration=REGISTERED,
    seconds=2,
    text="a sentence of up to 12 words; after a |, the word whose query is shown",
)
