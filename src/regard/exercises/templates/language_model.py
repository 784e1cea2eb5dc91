"""Sampling from a language model, and the probability of a sentence (lecture 3).

Replace each ``...`` by your code and run ``regard check language_model.py``.
"""

import torch


def log_probability(logits, words):
    """The log-probability of a sentence: the product of the lecture is a sum of logarithms.

    Equations:
        (1) the distributions: log p(w | y_{<t}) for every word w of the vocabulary: the logarithm of the softmax
        (2) the words' own: log p(y_t | y_{<t})
        (3) the sentence: log p(y) = Σ_t log p(y_t | y_{<t})

    Args:
        logits: o_t, one row for each position, (T, v).
        words: y_1 … y_T, (T,), the numbers of the words, from 0 to v − 1.
    """
    log_probs = ...
    own = ...
    total = ...
    return log_probs, own, total


def sample_word(logits, u, temperature):
    """Sample a word: divide the interval from 0 to 1 by the probabilities, and take the part that u is in.

    Equations:
        (1) the probabilities: p = softmax(o / τ)
        (2) the upper ends of the parts: P_w = p_0 + p_1 + … + p_w
        (3) the word: the first w with P_w > u

    Args:
        logits: o, (v,).
        u: a number, uniform from 0 to below 1.
        temperature: τ, a number; below 1, probable words become more probable.

    Returns:
        p (v,), P (v,), and w, a whole number.
    """
    p = ...
    ends = ...
    word = ...
    return p, ends, word


def sample_sentence(next_logits, us, start, end):
    """Sample a sentence word by word, as on the slides: I · I am · I am going · …; call your ``sample_word``.

    Equations:
        (1) the words: y_t sampled from p(· | y_{<t}), until it is the end symbol or no u is left

    Args:
        next_logits: a function: the list of all words so far, with the start symbol → the logits of the next, (v,).
        us: one number for each word, (T,).
        start: the start symbol, a word before y_1 that is not part of the result.
        end: the end symbol, part of the result.

    Returns:
        A list of whole numbers, y_1, y_2, …; the temperature is 1.
    """
    words = ...
    return words
