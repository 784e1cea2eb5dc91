"""A solution of bahdanau.py."""

import torch


def annotations(forward_states, backward_states):
    in_order = torch.flip(backward_states, dims=[0])
    h = torch.cat([forward_states, in_order], dim=1)
    return in_order, h


def attention(s, H, W_a, U_a, v_a):
    e = torch.tanh(W_a @ s + H @ U_a.T) @ v_a
    alpha = torch.softmax(e, dim=0)
    context = alpha @ H
    return e, alpha, context


def decoder_step(y, s, H, W_a, U_a, v_a, f):
    context = attention(s, H, W_a, U_a, v_a)[-1]
    new_s = f(s, y, context)
    return context, new_s


def alignment(ys, s0, H, W_a, U_a, v_a, f):
    s = s0
    rows = []
    for y in ys:
        rows.append(attention(s, H, W_a, U_a, v_a)[1])
        s = decoder_step(y, s, H, W_a, U_a, v_a, f)[-1]
    alphas = torch.stack(rows)
    return alphas
