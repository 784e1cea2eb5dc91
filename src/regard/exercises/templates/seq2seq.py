"""Sequence to sequence through one vector (lectures 3, 4 and 5): an RNN as encoder, an RNN as decoder.

Replace each ``...`` by your code and run ``regard check seq2seq.py``.
"""

import torch


def encode(xs, h0, W, U, b, W_s):
    """The encoder, and what it leaves to the decoder.

    Equations:
        (1) the states: h_t = tanh(W x_t + U h_{t−1} + b) for t = 1 … T
        (2) the context vector: c = h_T
        (3) the decoder's first state: s_0 = tanh(W_s c)

    Args:
        xs: x_1 … x_T, (T, m).
        h0: h_0, (n,).
        W: (n, m).
        U: (n, n).
        b: (n,).
        W_s: (n, n).

    Returns:
        h_1 … h_T (T, n), c (n,) and s_0 (n,).
    """
    states = ...
    context = ...
    s0 = ...
    return states, context, s0


def decoder_step(y, s, c, W, U, C, b, V):
    """One step of the decoder, s_t = g_U(y_{t−1}, s_{t−1}, c).

    The slide prints h_{t−1} for s_{t−1}.

    Equations:
        (1) the state: s_t = tanh(W y_{t−1} + U s_{t−1} + C c + b)
        (2) the probabilities: p_t = softmax(V s_t)

    Args:
        y: the vector of the word y_{t−1}, (m,).
        s: s_{t−1}, (n,).
        c: the context vector, the same at every step, (n,).
        W: (n, m).
        U: (n, n).
        C: (n, n).
        b: (n,).
        V: (v, n), one row for each word.
    """
    new_s = ...
    p = ...
    return new_s, p


def greedy(s0, c, E, W, U, C, b, V, start, end, most):
    """Write the most probable word at each step; call your ``decoder_step``.

    Equations:
        (1) the words: y_t = argmax_w p_t(w), and y_t is read at the next step; until the end symbol or `most` words

    Args:
        s0: the first state, (n,).
        c: the context vector, (n,).
        E: the vectors of the words, one row for each, (v, m).
        W: as for decoder_step.
        U: as for decoder_step.
        C: as for decoder_step.
        b: as for decoder_step.
        V: as for decoder_step.
        start: the start symbol, read at the first step.
        end: the end symbol, part of the result.
        most: the largest number of words.

    Returns:
        A list of whole numbers, y_1, y_2, …
    """
    words = ...
    return words
