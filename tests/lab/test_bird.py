"""The experiment on query, key and value: numbers by hand, identities, texts, and its verdict."""

import copy
import math
import re

import pytest
import torch

from regard.errors import DataError
from regard.lab.bird import (
    EXPERIMENT,
    REGISTERED,
    SENTENCE,
    BirdSizes,
    matrix_form,
    measure,
    outside_hull,
    parse_text,
    sample_parameters,
    verdict,
)
from regard.lab.runner import Bench

TOY = BirdSizes(word=4, key=3, directions=50, seeds=2)


@pytest.fixture(scope="module")
def finding(tmp_path_factory):
    return measure(Bench(tmp_path_factory.mktemp("bird")), TOY)


def columns(matrix):
    return [list(column) for column in zip(*matrix, strict=True)]


def product(matrix, vector):
    return [math.fsum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def softmax(energies):
    powers = [math.exp(s) for s in energies]
    return [power / math.fsum(powers) for power in powers]


def test_the_new_vector_of_bird_is_what_a_learner_computes_by_hand(finding):
    numbers = finding.numbers
    assert numbers["words"] == ["The", "early", "bird", "catches", "the", "worm"]
    words = columns(numbers["X"])
    q = product(numbers["W_Q"], words[2])
    keys, values = ([product(numbers[name], x) for x in words] for name in ("W_K", "W_V"))
    weights = softmax([dot(q, k) / math.sqrt(3) for k in keys])
    new = [math.fsum(a * v[r] for a, v in zip(weights, values, strict=True)) for r in range(3)]
    scaled = numbers["similarities"]["scaled dot"]
    assert scaled["weights"] == pytest.approx(weights, abs=1e-14)
    assert scaled["new"] == pytest.approx(new, abs=1e-14)
    assert columns(numbers["Z"])[2] == pytest.approx(new, abs=1e-14)
    assert numbers["dots"] == pytest.approx([dot(q, k) for k in keys], abs=1e-14)


def test_all_four_similarities_are_as_the_lectures_write_them(finding):
    numbers = finding.numbers
    q, keys = columns(numbers["Q"])[2], columns(numbers["K"])

    def additive(k):
        query, key = product(numbers["W_a"], q), product(numbers["U_a"], k)
        return dot(numbers["v_a"], [math.tanh(a + b) for a, b in zip(query, key, strict=True)])

    expected = {
        "dot": [dot(q, k) for k in keys],
        "scaled dot": [dot(q, k) / math.sqrt(3) for k in keys],
        "general": [dot(q, product(numbers["W"], k)) for k in keys],
        "additive": [additive(k) for k in keys],
    }
    assert list(numbers["similarities"]) == list(expected)
    for kind, energies in expected.items():
        assert numbers["similarities"][kind]["energies"] == pytest.approx(energies, abs=1e-14), kind
        assert numbers["similarities"][kind]["weights"] == pytest.approx(softmax(energies), abs=1e-14), kind


def test_leaving_the_word_out_shares_its_weight_among_the_others_in_proportion(finding):
    weights = finding.numbers["similarities"]["scaled dot"]["weights"]
    rest = 1 - weights[2]
    expected = [0.0 if k == 2 else weight / rest for k, weight in enumerate(weights)]
    assert finding.numbers["weights_without_itself"] == pytest.approx(expected, abs=1e-14)


def test_the_claim_holds_and_each_check_can_fail(finding):
    assert finding.verdict.word == "held"
    for change in ("difference", "sum_error", "least_weight", "sticks_out"):
        numbers = copy.deepcopy(dict(finding.numbers))
        if change == "difference":
            numbers["difference"] = 1e-9
        else:
            numbers["similarities"]["general"][change] = -1e-9 if change == "least_weight" else 1e-9
        result = verdict([numbers])
        assert result.word == "not seen here", change  # identities are no evidence for a claim
        assert sum(not check.held for check in result.checks) == 1, change


def test_the_verdict_has_typographic_minus_signs_and_powers(finding):
    numbers = copy.deepcopy(dict(finding.numbers))
    numbers["difference"] = 4e-16
    for each in numbers["similarities"].values():
        each.update(sticks_out=-0.1234, least_weight=0.031, sum_error=0.0)
    result = verdict([numbers]).because
    assert "differ by 4 × 10⁻¹⁶ at most" in result
    assert "every weight is at least 3 × 10⁻², their sums are within 0 of 1" in result
    assert "than −0.123 (below 0 is inside)" in result
    assert not re.search(r"-\d", result)
    for each in numbers["similarities"].values():
        each.update(sticks_out=-1.8e-5)
    assert "than −1.8 × 10⁻⁵ (below 0 is inside)" in verdict([numbers]).because


def test_the_number_of_directions_is_documented():
    assert (
        f"along {REGISTERED.usual.directions:,} directions ({REGISTERED.full.directions:,} in the longer run)"
        in EXPERIMENT.decides
    )


def test_what_is_not_normalised_sticks_out(finding):
    assert finding.numbers["raw_sticks_out"] > 0.1


def test_every_number_of_the_way_stands_in_the_figure(finding):
    lookup = next(drawing.figure for drawing in finding.figures if drawing.name == "lookup")
    written = [text.get_text() for text in lookup.axes[0].texts]
    scaled = finding.numbers["similarities"]["scaled dot"]
    for number in (*columns(finding.numbers["K"])[0], *columns(finding.numbers["V"])[5], *scaled["new"]):
        assert f"{number:.2f}".replace("-", "−") in written
    assert written.count("1.00") >= 1
    assert {"The", "early", "bird", "catches", "the", "worm", "Σ"} <= set(written)


def test_what_is_drawn_by_lot_has_one_digit_and_so_the_printed_queries_are_exact(finding):
    for name, digits in (("X", 1), ("W_Q", 1), ("W_K", 1), ("W_V", 1), ("Q", 2), ("K", 2), ("V", 2)):
        drawn = torch.tensor(finding.numbers[name], dtype=torch.float64)
        assert torch.allclose(drawn, drawn.round(decimals=digits), rtol=0, atol=1e-14), name


def test_a_sentence_of_the_user_s(tmp_path):
    assert EXPERIMENT.text
    finding = measure(Bench(tmp_path, text="time flies like an arrow | flies"), TOY)
    assert (finding.numbers["words"][1], finding.numbers["chosen"]) == ("flies", 1)
    assert finding.verdict.word == "held"
    assert "flies" in finding.figures[0].caption


def test_one_word_attends_to_itself(tmp_path):
    finding = measure(Bench(tmp_path, text="bird"), TOY)
    assert finding.numbers["similarities"]["dot"]["weights"] == [1.0]
    assert finding.verdict.word == "held"


def test_equal_words_have_equal_vectors(tmp_path):
    x = columns(measure(Bench(tmp_path, text="to be or not to be"), TOY).numbers["X"])
    assert x[0] == x[4]
    assert x[1] == x[5]
    assert x[0] != x[1]


def test_the_text_is_a_sentence_and_a_word():
    assert parse_text(SENTENCE) == (["The", "early", "bird", "catches", "the", "worm"], 2)
    assert parse_text("a b c") == (["a", "b", "c"], 2)
    assert parse_text("a b c |") == (["a", "b", "c"], 2)
    with pytest.raises(DataError, match=r"'birt' is not a word of 'a bird'.*bird"):
        parse_text("a bird | birt")
    with pytest.raises(DataError, match=r"'' has 0 words; give from 1 to 12"):
        parse_text("| bird")
    with pytest.raises(DataError, match="has 13 words"):
        parse_text("w " * 13)


CORNERS = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
AROUND = torch.stack([torch.arange(360).deg2rad().cos(), torch.arange(360).deg2rad().sin()], dim=1).double()


def test_a_point_sticks_out_by_its_distance_from_the_hull():
    def out(x, y):
        return outside_hull(torch.tensor([[x, y]], dtype=torch.float64), CORNERS, 7 * AROUND)

    assert out(0.25, 0.25) < 0
    assert out(1.5, 0.0) == pytest.approx(0.5, abs=1e-6)
    assert out(1.0, 1.0) == pytest.approx(2**-0.5, abs=1e-3)  # the nearest direction of a whole degree
    assert out(-0.2, 0.5) == pytest.approx(0.2, abs=1e-6)


def test_the_worst_of_several_points_counts():
    points = torch.tensor([[0.2, 0.2], [0.0, 3.0]], dtype=torch.float64)
    assert outside_hull(points, CORNERS, AROUND) == pytest.approx(2.0, abs=1e-6)


def test_the_matrix_form_averages_by_columns():
    Q = torch.zeros(3, 4, dtype=torch.float64)
    Z, A = matrix_form(Q, torch.randn(3, 4, dtype=torch.float64), torch.arange(8.0).double().view(2, 4))
    assert torch.allclose(A, torch.full((4, 4), 0.25, dtype=torch.float64))
    assert torch.allclose(Z, torch.tensor([[1.5], [5.5]], dtype=torch.float64).expand(2, 4))
    sharp, A = matrix_form(
        60 * torch.eye(4, dtype=torch.float64), torch.eye(4, dtype=torch.float64), torch.eye(4).double()
    )
    assert torch.allclose(sharp, torch.eye(4, dtype=torch.float64), atol=1e-12)
    assert torch.allclose(A.sum(dim=0), torch.ones(4, dtype=torch.float64))


def test_the_matrices_do_not_hang_on_the_sentence_and_a_word_not_on_its_place():
    one, other = sample_parameters(["a", "b"], 4, 3, seed=1), sample_parameters(["b", "c", "d"], 4, 3, seed=1)
    assert torch.equal(one.W_Q, other.W_Q)
    assert torch.equal(one.X[:, 1], other.X[:, 0])
    assert not torch.equal(one.X, sample_parameters(["a", "b"], 4, 3, seed=2).X)
