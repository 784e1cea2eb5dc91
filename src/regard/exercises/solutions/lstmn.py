"""A solution of lstmn.py."""

import torch


def attend(x, s, hs, cs, W_h, W_x, W_s, v):
    e = torch.tanh(hs @ W_h.T + W_x @ x + W_s @ s) @ v
    alpha = torch.softmax(e, dim=0)
    new_s = alpha @ hs
    recalled = alpha @ cs
    return e, alpha, new_s, recalled


def update(x, s, recalled, W, U, b):
    i = torch.sigmoid(W.i @ x + U.i @ s + b.i)
    f = torch.sigmoid(W.f @ x + U.f @ s + b.f)
    candidate = torch.tanh(W.c @ x + U.c @ s + b.c)
    o = torch.sigmoid(W.o @ x + U.o @ s + b.o)
    new_c = f * recalled + i * candidate
    new_h = o * new_c
    return i, f, candidate, o, new_c, new_h
