import pytest
import torch

from regard.lab.measures.lookup import draw_given, matrix_form, sticks_out

CORNERS = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
AROUND = torch.stack([torch.arange(360).deg2rad().cos(), torch.arange(360).deg2rad().sin()], dim=1).double()


def test_a_point_sticks_out_by_its_distance_from_the_hull():
    def out(x, y):
        return sticks_out(torch.tensor([[x, y]], dtype=torch.float64), CORNERS, 7 * AROUND)

    assert out(0.25, 0.25) < 0
    assert out(1.5, 0.0) == pytest.approx(0.5, abs=1e-6)
    assert out(1.0, 1.0) == pytest.approx(2**-0.5, abs=1e-3)  # the nearest direction of a whole degree
    assert out(-0.2, 0.5) == pytest.approx(0.2, abs=1e-6)


def test_the_worst_of_several_points_is_told():
    points = torch.tensor([[0.2, 0.2], [0.0, 3.0]], dtype=torch.float64)
    assert sticks_out(points, CORNERS, AROUND) == pytest.approx(2.0, abs=1e-6)


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
    one, other = draw_given(["a", "b"], 4, 3, seed=1), draw_given(["b", "c", "d"], 4, 3, seed=1)
    assert torch.equal(one.W_Q, other.W_Q)
    assert torch.equal(one.X[:, 1], other.X[:, 0])
    assert not torch.equal(one.X, draw_given(["a", "b"], 4, 3, seed=2).X)
