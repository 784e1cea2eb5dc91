"""The experiment on shared parameters: what is shared between positions and lengths, and its verdict."""

import json

import pytest
import torch

from regard.lab.measures.gradients import marked_lines
from regard.lab.runner import Bench
from regard.lab.runner.experiment import HELD, IN_PART, NOT_DECIDED, NOT_SEEN
from regard.lab.sharing import (
    BY_LENGTH,
    BY_POSITION,
    KINDS,
    SHARED,
    SharingSizes,
    build,
    groups,
    measure,
    training_batches,
    verdict,
)

TOY = SharingSizes(
    seeds=2,
    updates=3,
    lines=(8, 16, 32),
    lengths=(3, 5),
    longest=7,
    test=20,
    symbols=4,
    state=6,
    rows=4,
    learning_rate=0.01,
)


def made_up(shared=100.0, position=60.0, length=30.0, shortest=100.0):
    accuracy = {SHARED: [shortest, *[shared] * 4], BY_POSITION: [position] * 5, BY_LENGTH: [length] * 5}
    counts = {"8", "16", "32"}
    return {
        "sizes": {"lines": [8, 16, 32], "lengths": (3, 5), "symbols": 4},
        "lengths": [3, 4, 5, 6, 7],
        "readers": {kind: {n: [{"accuracy": accuracy[kind]}] * 2 for n in counts} for kind in KINDS},
    }


@pytest.mark.parametrize(
    ("numbers", "word"),
    [
        (made_up(), HELD),
        (made_up(position=95.0), IN_PART),
        (made_up(shared=30.0, length=60.0), NOT_SEEN),
        (made_up(shortest=50.0), NOT_DECIDED),
    ],
)
def test_the_verdict_follows_from_the_leads(numbers, word):
    assert verdict(numbers).word == word


def test_lengths_are_grouped_by_training():
    assert groups(made_up()) == {"trained": [3, 5], "between": [4], "beyond": [6, 7]}


def gradients(kind, ids):
    reader = build(kind, TOY, seed=1)
    reader(ids).sum().backward()
    return reader


def test_a_cell_of_its_own_is_trained_by_its_position_alone():
    ids = torch.randint(8, (2, 3))
    cells = gradients(BY_POSITION, ids).cells
    assert [cell.U.grad is not None for cell in cells] == [True] * 3 + [False] * 4
    assert not torch.equal(cells[0].U, cells[1].U)


def test_a_network_of_its_own_is_trained_by_its_length_alone():
    networks = gradients(BY_LENGTH, torch.randint(8, (2, 3))).networks
    trained = [all(p.grad is not None for p in network.parameters()) for network in networks]
    assert trained == [length == 3 for length in range(8)]
    ids = torch.randint(8, (2, 5))
    assert torch.equal(build(BY_LENGTH, TOY, 1)(ids), build(BY_LENGTH, TOY, 1).networks[5](ids))


def test_positions_with_the_same_parameters_are_the_shared_cell():
    own, shared = build(BY_POSITION, TOY, 1), build(SHARED, TOY, 2)
    own.embedding.load_state_dict(shared.embedding.state_dict())
    own.head.load_state_dict(shared.head.state_dict())
    for cell in own.cells:
        cell.load_state_dict(shared.cell.state_dict())
    ids = torch.randint(8, (3, 6))
    torch.testing.assert_close(own(ids), shared(ids))


def test_training_lines_are_as_many_as_said_and_the_same_for_all():
    batches = [next(batch) for batch in [training_batches(TOY, 8, 3)] * 40]
    rows = {tuple(row.tolist()) for ids, _ in batches for row in ids}
    assert len(rows) <= 8
    assert {len(row) for row in rows} == {3, 5}
    again = training_batches(TOY, 8, 3)
    assert all(torch.equal(ids, next(again)[0]) for ids, _ in batches)


def test_one_symbol_of_a_line_is_marked_and_it_is_the_answer():
    ids, answers = marked_lines(torch.Generator().manual_seed(1), 200, 6, 4)
    marked = ids >= 4
    assert marked.sum(dim=1).tolist() == [1] * 200
    assert torch.equal(ids[marked] - 4, answers)
    assert marked.any(dim=0).all()
    fixed, _ = marked_lines(torch.Generator().manual_seed(1), 50, 6, 4, position=2)
    assert (fixed[:, 2] >= 4).all()


def test_what_is_found_can_be_written_and_drawn(tmp_path):
    finding = measure(Bench(tmp_path, seed=2), TOY)
    assert len(finding.tables[0].rows) == 9
    assert [row[1] for row in finding.tables[0].rows][::3] == sorted(
        (row[1] for row in finding.tables[0].rows[::3]), key=lambda text: int(text.replace(",", ""))
    )
    json.dumps(finding.numbers)
