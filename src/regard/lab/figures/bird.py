"""The figures, the table and the remarks of the experiment on the bird.

In: its numbers. Out: drawings with captions, a table, remarks. Nothing is measured here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from regard.lab.bench import Drawing, Grid
from regard.lab.measures.lookup import FORMULAE
from regard.output.pictures.lookup import draw_lookup, draw_projections, draw_similarities


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
            draw_lookup(
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
