"""Query, key and value by hand: what is drawn by lot, the matrix form, four similarities, what no average does.

In: words and a seed. Out: float64 tensors in the lecture's layout, words as columns. Everything drawn has one digit
after the point, so products of two are exact with two digits. Nothing here is learnt.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.ops.attention.additive import additive_energies
from regard.ops.attention.bilinear import bilinear_energies, bilinear_keys
from regard.ops.attention.dot import dot_energies, scaled_dot_energies

FORMULAE = {
    "dot": "qᵀk",
    "scaled dot": "qᵀk/√p",
    "general": "qᵀWk",
    "additive": "v_aᵀ tanh(W_a q + U_a k)",
}
"""The similarities by name."""


@dataclass(frozen=True)
class Given:
    """What is drawn by lot, with one digit after the point; words are columns, as in the lecture.

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


def draw_given(words: Sequence[str], d: int, p: int, seed: int) -> Given:
    """Draw the words' vectors and all matrices; the matrices do not hang on the sentence.

    Args:
        words: of the sentence.
        d: the numbers in a word's vector.
        p: the numbers in a query, a key and a value.
        seed: equal seeds give equal numbers.
    """
    rng = random.Random(f"bird {seed}")
    shapes = {"W_Q": (p, d), "W_K": (p, d), "W_V": (p, d), "W": (p, p), "W_a": (p, p), "U_a": (p, p)}
    matrices = {name: drawn(rng, *shape) for name, shape in shapes.items()}
    v_a = drawn(rng, 1, p)[0]
    vectors = {word: drawn(random.Random(f"bird {seed} {word}"), 1, d)[0] for word in words}
    return Given(torch.stack([vectors[word] for word in words], dim=1), **matrices, v_a=v_a)


def matrix_form(Q: Tensor, K: Tensor, V: Tensor) -> tuple[Tensor, Tensor]:
    """Z = V softmax(KᵀQ/√p) as the lecture prints it, words as columns, and the softmax of each column."""
    A = (K.T @ Q / math.sqrt(K.shape[0])).softmax(dim=0)  # (n, n)
    return V @ A, A  # (r, n)


def similarities(given: Given, Q: Tensor, K: Tensor) -> dict[str, Tensor]:
    """Four ways to compare every query with every key, each (1, n, n): a row for each query."""
    query, keys = Q.T.unsqueeze(0), K.T.unsqueeze(0)
    return {
        "dot": dot_energies(query, keys),
        "scaled dot": scaled_dot_energies(query, keys),
        "general": bilinear_energies(query, bilinear_keys(keys, given.W), given.W),
        "additive": additive_energies(query @ given.W_a.T, keys @ given.U_a.T, given.v_a),
    }


def sticks_out(points: Tensor, values: Tensor, directions: Tensor) -> float:
    """How far points stick out of the convex hull of the values, at most, along the directions; not above 0 inside.

    A point is in the hull where no direction has it beyond all values: uᵀz ≤ max_i uᵀv_i for every u of length 1.
    """
    u = directions / directions.norm(dim=1, keepdim=True)
    return float(((points @ u.T) - (values @ u.T).amax(dim=0)).max())


def drawn(rng: random.Random, rows: int, columns: int, digits: int = 1) -> Tensor:
    """Draw a matrix of normal numbers of deviation 0.8, rounded."""
    return torch.tensor(
        [[round(rng.gauss(0, 0.8), digits) + 0.0 for _ in range(columns)] for _ in range(rows)],
        dtype=torch.float64,
    )
