"""A solution of language_model.py."""

import torch


def log_probability(logits, words):
    log_probs = torch.log_softmax(logits, dim=1)
    own = log_probs[torch.arange(len(words)), words]
    total = own.sum()
    return log_probs, own, total


def sample_word(logits, u, temperature):
    p = torch.softmax(logits / temperature, dim=0)
    ends = torch.cumsum(p, dim=0)
    word = int((ends > u).nonzero()[0])
    return p, ends, word


def sample_sentence(next_logits, us, start, end):
    words = []
    for u in us:
        words.append(sample_word(next_logits([start, *words]), u, 1.0)[-1])
        if words[-1] == end:
            break
    return words
