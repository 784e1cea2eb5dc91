"""What is counted is what can be counted by hand."""

import time

import pytest
import torch

from regard.lab.measures.cost import (
    ATTENTION,
    FIXED,
    FUSED,
    GRU,
    LSTMN,
    NAIVE,
    Arm,
    count_work,
    processor_seconds,
    work_of,
)

A, B, ROW = torch.ones(3, 4), torch.ones(4, 5), torch.ones(4)
ROOM, BATCH = torch.ones(3, 5), (torch.ones(2, 3, 4), torch.ones(2, 4, 5))


def operations(compute):
    """Of a forward pass alone: the loss hangs on something that is counted apart."""
    leaf = torch.zeros((), requires_grad=True)

    def loss():
        compute()
        return leaf * 1

    return count_work(loss, [leaf]).operations - count_work(lambda: leaf * 1, [leaf]).operations


@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        (lambda: A @ B, 3 * 4 * 5),
        (lambda: A @ ROW, 3 * 4),
        (lambda: torch.dot(ROW, ROW), 4),
        (lambda: torch.bmm(*BATCH), 2 * 3 * 4 * 5),
        (lambda: torch.addmm(ROOM, A, B), 3 * 4 * 5),
        (lambda: ROOM.addmm_(A, B), 3 * 4 * 5),
        (lambda: torch.bmm(*BATCH, out=torch.empty(2, 3, 5)), 2 * 3 * 4 * 5),
        (lambda: torch.einsum("btd,bde->bte", *BATCH), 2 * 3 * 4 * 5),
        (lambda: torch.nn.functional.linear(A, B.T), 3 * 4 * 5),
        (lambda: A + 1, 12),
        (lambda: A.tanh_(), 12),
        (lambda: A.T[1:], 0),
        (lambda: torch.empty(99), 0),
    ],
)
def test_products_count_their_inner_size_views_nothing_and_the_rest_what_it_writes(compute, expected):
    assert operations(compute) == expected


def test_the_backward_pass_counts_too():
    a, b = torch.ones(3, 5, requires_grad=True), torch.ones(5, 7, requires_grad=True)
    # the product and its two gradients; the sum, and the 1 its gradient starts from
    for _ in range(2):
        assert count_work(lambda: (a @ b).sum(), [a, b]).operations == 3 * (3 * 5 * 7) + 2


def test_bytes_are_storages_once_and_without_parameters():
    a = torch.ones(10, requires_grad=True)

    def loss():
        b = a * 2  # keeps nothing that is not a's
        return (b * b[:5].sum() * b.tanh()).sum()

    # b (10), b's partial sum (1), b·sum (10), tanh b (10), each of 4 bytes, however often they are kept
    assert count_work(loss, [a]).bytes == 4 * (10 + 1 + 10 + 10)
    assert count_work(lambda: (a * a).sum(), [a]).bytes == 0
    assert count_work(lambda: (a * a).sum(), []).bytes == 4 * 10


def test_time_is_the_processors():
    x = torch.zeros(1, requires_grad=True)

    def idle():
        time.sleep(0.2)
        return x.sum()

    assert processor_seconds(idle) < 0.1


@pytest.mark.parametrize("model", [FIXED, ATTENTION, GRU, LSTMN])
def test_both_paths_are_one_model(model):
    losses = []
    for path in (NAIVE, FUSED):
        made, loss = work_of(Arm(model, path), size=4, rows=2, seed=3)
        value = loss(5, 7)
        value.backward()
        losses.append((value, [parameter.grad for parameter in made.parameters()]))
    (one, gradients), (other, others) = losses
    torch.testing.assert_close(one, other)
    for gradient, expected in zip(gradients, others, strict=True):
        torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-5)


def test_the_path_is_the_one_that_was_asked_for():
    kept = {}
    for path in (NAIVE, FUSED):
        made, loss = work_of(Arm(ATTENTION, path), size=4, rows=1, seed=3)
        kept[path] = count_work(lambda loss=loss: loss(12, 12), made.parameters()).bytes
    # the naive path keeps a tanh of every pair of words and alignment unit; the fused one makes it again
    assert kept[NAIVE] - kept[FUSED] > 12 * 12 * 4 * 4 / 2
