"""A solution of seq2seq.py."""

import torch


def encode(xs, h0, W, U, b, W_s):
    h = h0
    steps = []
    for x in xs:
        h = torch.tanh(W @ x + U @ h + b)
        steps.append(h)
    states = torch.stack(steps)
    context = states[-1]
    s0 = torch.tanh(W_s @ context)
    return states, context, s0


def decoder_step(y, s, c, W, U, C, b, V):
    new_s = torch.tanh(W @ y + U @ s + C @ c + b)
    p = torch.softmax(V @ new_s, dim=0)
    return new_s, p


def greedy(s0, c, E, W, U, C, b, V, start, end, most):
    s, words = s0, []
    for _ in range(most):
        y = words[-1] if words else start
        s, p = decoder_step(E[y], s, c, W, U, C, b, V)
        words.append(int(p.argmax()))
        if words[-1] == end:
            break
    return words
