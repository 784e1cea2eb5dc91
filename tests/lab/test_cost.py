"""The experiment on cost at toy size: counts by the formula of the model, the verdict on numbers that were made up."""

import copy
import json
import time

import pytest
import torch

from regard.lab import find_experiment
from regard.lab.cost import (
    ATTENTION,
    EXPERIMENT,
    FIXED,
    FUSED,
    GRU,
    LSTMN,
    NAIVE,
    READERS,
    TRANSLATORS,
    CostSizes,
    ModelPath,
    Parts,
    added_exponent,
    build_loss,
    count_work,
    measure,
    processor_seconds,
    verdict,
    write_remarks,
)
from regard.lab.runner import Bench

TOY = CostSizes(lengths=(4, 8, 16, 32), naive_lengths=(2, 4, 8), grid=(4, 8, 16), repeats=1, size=4, rows=2)


@pytest.fixture(scope="module")
def finding(tmp_path_factory):
    return measure(Bench(tmp_path_factory.mktemp("cost")), TOY)


def test_counts_are_a_sum_of_words_and_pairs_and_the_fixed_vector_has_no_pairs(finding):
    parts = finding.numbers["parts"]
    for name in (FIXED, ATTENTION):
        row = parts[name]
        for what in ("operations", "bytes"):
            fitted = Parts(**row["parts"][what])
            for (l1, l2), count in zip(row["lengths"], row[what], strict=True):
                # whole numbers: what the fit leaves open is rounding
                assert fitted.cost(l1, l2) == pytest.approx(count, rel=1e-6)
            assert (fitted.pair > 0.5) == (name == ATTENTION), (name, what)


def test_the_fused_path_keeps_one_number_for_each_pair_of_words(finding):
    """Alpha alone: 4 bytes for each of B · l₁ · l₂."""
    assert finding.numbers["parts"][ATTENTION]["parts"]["bytes"]["pair"] == pytest.approx(
        4 * TOY.rows, rel=1e-6
    )


def test_a_pair_costs_what_its_equations_take():
    """Forward, for each pair: add, tanh and v_a over a = 4 units, Σ α h over d = 8, and the softmax; then backward."""
    made, loss = build_loss(ModelPath(ATTENTION, FUSED), size=4, rows=2, seed=1)
    a, b, c, d = (
        count_work(lambda pair=pair: loss(*pair), made.parameters()).operations
        for pair in ((8, 8), (8, 16), (16, 8), (16, 16))
    )
    a_units, d_units = 4, 8
    forward = 3 * a_units + d_units
    backward = 2 * d_units + 6 * a_units  # ∂α and ∂h; add and tanh again, its square, ∂keys, ∂v_a, ∂query
    pair = (d - b - c + a) / 64 / TOY.rows
    assert (
        forward + backward <= pair <= forward + backward + 12
    )  # masks, softmax and its slope: one number each


def test_exponents_belong_to_what_is_shown(finding):
    squares = finding.numbers["squares"]
    assert set(squares) == {arm.name for arm in (*TRANSLATORS, *READERS)}
    for name, row in squares.items():
        lengths = TOY.naive_lengths if name in (f"{FIXED}, {NAIVE}", f"{ATTENTION}, {NAIVE}") else TOY.lengths
        assert row["lengths"] == list(lengths)
        for what in ("operations", "bytes", "seconds"):
            assert len(row[what]) == len(lengths)
            assert min(row[what]) > 0
    fixed, attention = (squares[ModelPath(name, FUSED).name] for name in (FIXED, ATTENTION))
    assert fixed["exponents"]["operations"] == pytest.approx(1, abs=0.05)
    assert attention["exponents"]["operations"] > fixed["exponents"]["operations"]


@pytest.mark.parametrize("arm", [*TRANSLATORS, *READERS], ids=lambda arm: arm.name)
def test_counts_are_the_same_whenever_they_are_made(finding, arm):
    row = finding.numbers["squares"][arm.name]
    made, loss = build_loss(arm, size=TOY.size, rows=TOY.rows, seed=1)
    for _ in range(3):
        work = count_work(lambda: loss(8, 8), made.parameters())
        at = row["lengths"].index(8)
        assert (work.operations, work.bytes) == (row["operations"][at], row["bytes"][at])


def test_the_figures_show_the_numbers(finding):
    squares = finding.numbers["squares"]
    drawn = [line for each in finding.figures for axes in each.figure.axes for line in axes.lines]
    wanted = [list(row[what]) for row in squares.values() for what in ("operations", "seconds", "bytes")]
    assert sorted(list(line.get_ydata()) for line in drawn) == sorted(wanted)
    assert json.loads(json.dumps(finding.numbers)) == finding.numbers
    for grid in finding.tables:
        assert all(len(row) == len(grid.columns) for row in grid.rows)
    assert {text.get_text() for each in finding.figures for text in each.figure.texts} == set(squares)


def test_the_remarks_name_where_pairs_come_to_cost_as_much_as_words_if_anywhere(finding):
    parts = finding.numbers["parts"][ATTENTION]["parts"]["operations"]
    even = (parts["source"] + parts["target"]) / parts["pair"]
    assert f"as many operations as single words from {even:,.0f} words on each side" in finding.remarks[0]
    numbers = copy.deepcopy(dict(finding.numbers))
    for each in numbers["parts"][ATTENTION]["parts"].values():
        each.update(pair=0.0)
    text = " ".join(write_remarks(numbers))
    assert "as many operations as single words at no length" in text
    assert "inf" not in text


@pytest.mark.parametrize("power", [1.6, 2.1])
def test_the_remarks_say_what_was_fitted(finding, power):
    numbers = copy.deepcopy(dict(finding.numbers))
    for name in (ATTENTION, FIXED):
        for path in (FUSED, NAIVE):
            numbers["squares"][ModelPath(name, path).name]["exponents"].update(
                operations=power, seconds=power
            )
    result = write_remarks(numbers)
    assert ("below 2" in result[0]) == (power < 2)
    assert any(f"operations grow with the power {power:.2f}, a little above 1" in remark for remark in result)
    numbers["squares"][ModelPath(FIXED, NAIVE).name]["exponents"].update(operations=1.0)
    assert not any("a little above 1" in remark for remark in write_remarks(numbers))


LENGTHS = [16, 32, 64, 128]


def row(power, scale=1.0, plus=0.0):
    costs = [scale * n**power + plus * n for n in LENGTHS]
    exponents = dict.fromkeys(("operations", "bytes", "seconds"), float(power))
    return {"lengths": LENGTHS, "operations": costs, "bytes": costs, "seconds": costs, "exponents": exponents}


def made_up():
    squares = {ModelPath(FIXED, path).name: row(1) for path in (FUSED, NAIVE)}
    squares |= {ModelPath(ATTENTION, path).name: row(2, plus=1) for path in (FUSED, NAIVE)}
    squares |= {READERS[0].name: row(1), READERS[1].name: row(2, plus=1)}
    return {"squares": squares}


def test_what_is_added_is_compared_beyond_the_other():
    squares = made_up()["squares"]
    assert added_exponent(
        squares, ModelPath(ATTENTION, FUSED), ModelPath(FIXED, FUSED), "operations"
    ) == pytest.approx(2)


def test_numbers_that_speak_for_the_claim_hold():
    result = verdict(made_up())
    assert result.word == "held"
    assert "to the power 1.00, and what attention adds to it to the power 2.00" in result.because
    # at 128 words 128 seconds, and with attention 128² + 128
    assert "at 128 words on both sides attention adds 99 % of the time" in result.because
    assert result.checks[-1].value == pytest.approx(100 * 128 / 129)


def test_a_linear_fixed_vector_is_no_sign_of_what_attention_costs():
    numbers = copy.deepcopy(made_up())
    for what, harm in HARM.items():
        if "fixed vector" not in what:
            harm(numbers)
    assert verdict(numbers).word == "not seen here"


HARM = {
    "operations, fixed vector": lambda n: n["squares"][ModelPath(FIXED, FUSED).name]["exponents"].update(
        operations=1.2
    ),
    "bytes kept, fixed vector": lambda n: n["squares"][ModelPath(FIXED, FUSED).name]["exponents"].update(
        bytes=1.2
    ),
    "operations attention adds": lambda n: n["squares"].update(
        {ModelPath(ATTENTION, FUSED).name: row(1.5, plus=1)}
    ),
    "bytes attention adds": lambda n: n["squares"].update(
        {ModelPath(ATTENTION, NAIVE).name: row(1.5, plus=1)}
    ),
    "LSTMN": lambda n: n["squares"].update({READERS[1].name: row(1.5, plus=1)}),
    "share of the time": lambda n: n["squares"][ModelPath(ATTENTION, FUSED).name].update(
        seconds=[1.0, 1.0, 1.0, 255.0]
    ),
}


@pytest.mark.parametrize("what", HARM)
def test_each_number_can_speak_against_it(what):
    numbers = copy.deepcopy(made_up())
    HARM[what](numbers)
    failed = [check.what for check in verdict(numbers).checks if not check.held]
    assert len(failed) == 1
    assert what in failed[0]


def test_the_claim_can_be_not_seen_at_all():
    numbers = copy.deepcopy(made_up())
    for harm in HARM.values():
        harm(numbers)
    assert verdict(numbers).word == "not seen here"


def test_it_measures_time_so_it_runs_alone():
    assert find_experiment("cost") is EXPERIMENT
    assert EXPERIMENT.alone


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
        made, loss = build_loss(ModelPath(model, path), size=4, rows=2, seed=3)
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
        made, loss = build_loss(ModelPath(ATTENTION, path), size=4, rows=1, seed=3)
        kept[path] = count_work(lambda loss=loss: loss(12, 12), made.parameters()).bytes
    # the naive path keeps a tanh of every pair of words and alignment unit; the fused one makes it again
    assert kept[NAIVE] - kept[FUSED] > 12 * 12 * 4 * 4 / 2
