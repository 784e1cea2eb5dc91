"""A solution of luong.py."""

import math

import torch


def scores(q, K, W, W_c, v):
    dot = K @ q
    scaled = K @ q / math.sqrt(K.shape[1])
    general = K @ (W.T @ q)
    pairs = torch.cat([q.expand(len(K), -1), K], dim=1)
    concat = torch.tanh(pairs @ W_c.T) @ v
    return dot, scaled, general, concat


def attentional_state(h, H, W_c):
    alpha = torch.softmax(H @ h, dim=0)
    context = alpha @ H
    attentional = torch.tanh(W_c @ torch.cat([context, h]))
    return alpha, context, attentional
