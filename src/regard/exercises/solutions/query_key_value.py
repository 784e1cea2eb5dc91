"""A solution of query_key_value.py."""

import math

import torch


def attend(q, K, V):
    similarities = K @ q
    alpha = torch.softmax(similarities, dim=0)
    context = V.T @ alpha
    return similarities, alpha, context


def project(X, W_Q, W_K, W_V):
    Q = W_Q @ X
    K = W_K @ X
    V = W_V @ X
    return Q, K, V


def self_attention(Q, K, V):
    S = K.T @ Q / math.sqrt(K.shape[0])
    A = torch.softmax(S, dim=0)
    Z = V @ A
    return S, A, Z
