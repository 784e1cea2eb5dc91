"""Parts are recorded only where somebody asks, in order, at their place; letters are rewritten for each decoder."""

import pytest
import torch

from regard.ops.gru.naive import EQUATIONS as GRU
from regard.ops.lstm.naive import EQUATIONS as LSTM
from regard.ops.lstmn.naive import EQUATIONS as LSTMN
from regard.ops.record import Equation, Letters, record, recording, scope

EQUATIONS = {"a": Equation("a_t = 1"), "b": Equation("b_t = 2")}


def test_outside_nothing_is_recorded_and_inside_all_in_order():
    record(EQUATIONS, a=torch.ones(1))
    with recording() as parts:
        record(EQUATIONS, b=torch.ones(1))
        with scope("layer", 1), scope("step", 3):
            record(EQUATIONS, a=torch.zeros(1))
    record(EQUATIONS, a=torch.ones(1))
    assert [(part.name, part.place) for part in parts] == [("b", ()), ("a", (("layer", 1), ("step", 3)))]
    assert parts[1].equation is EQUATIONS["a"]


def test_the_first_value_of_a_place_is_kept_and_is_a_copy():
    value = torch.ones(1, requires_grad=True)
    with recording() as parts:
        record(EQUATIONS, a=value)
        record(EQUATIONS, a=torch.zeros(1))
    with torch.no_grad():
        value += 1
    assert parts[0].value.item() == 1
    assert not parts[0].value.requires_grad
    assert len(parts) == 1


def test_a_part_without_an_equation_is_an_error():
    with recording(), pytest.raises(KeyError, match="c"):
        record(EQUATIONS, c=torch.ones(1))


def test_recordings_do_not_see_each_other():
    with recording() as outer:
        with recording() as inner:
            record(EQUATIONS, a=torch.ones(1))
        record(EQUATIONS, b=torch.ones(1))
    assert [part.name for part in outer] == ["b"]
    assert [part.name for part in inner] == ["a"]


@pytest.mark.parametrize(
    ("letters", "text", "written"),
    [
        (
            Letters(index="i", term="C c_t"),
            GRU["update"].papers,
            "z_i = σ(W_z E y_{i−1} + C_z c_i + U_z s_{i−1} + b_z)",
        ),
        (Letters(index="i"), GRU["state"].papers, "s_i = (1 − z_i) ∘ s_{i−1} + z_i ∘ s̃_i"),
        (Letters(memory="m"), LSTM["memory"].papers, "m_t = f_t ∘ m_{t−1} + i_t ∘ m̃_t"),
        (Letters(state="h", memory="m"), LSTMN["memory"].papers, "m_t = f_t ∘ m̃_t + i_t ∘ m̂_t"),
        (
            Letters(state="h", term="F h̃_{t−1}"),
            LSTM["input_gate"].papers,
            "i_t = σ(W_i E y_{t−1} + F_i h̃_{t−1} + U_i h_{t−1} + b_i)",
        ),
        (
            Letters(word="y_{t−1}", term="C c_t"),
            "a_t = A · [x_t; h_{t−1}] + b",
            "a_t = A · [y_{t−1}; c_t; s_{t−1}] + b",
        ),
    ],
)
def test_a_cell_s_equation_in_the_letters_of_a_decoder(letters, text, written):
    assert letters.write_cell(text) == written


@pytest.mark.parametrize(
    ("letters", "written"),
    [
        (Letters(index="i"), "e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j + w_c C_ij)"),
        (
            Letters(state="h", source="h̄_s", query="h_t"),
            "e_{t,s} = v_aᵀ tanh(W_a h_t + U_a h̄_s + w_c C_{t,s})",
        ),
        (
            Letters(source="h_i", alpha="a"),
            "e_{t,i} = v_aᵀ tanh(W_a s_{t−1} + U_a h_i + w_c C_{t,i})",
        ),
    ],
)
def test_an_attention_s_equation_in_the_letters_of_a_decoder(letters, written):
    assert letters.write("e_tj = v_aᵀ tanh(W_a s_{t−1} + U_a h_j + w_c C_tj)") == written


def test_sums_and_fractions_in_other_letters():
    slides = Letters(source="h_i", alpha="a")
    assert slides.write("α_tj = exp(e_tj) / Σ_k exp(e_tk)") == "a_{t,i} = exp(e_{t,i}) / Σ_k exp(e_{t,k})"
    assert slides.write("c_t = Σ_j α_tj h_j") == "c_t = Σ_i a_{t,i} h_i"
    assert Letters(index="i").write("C_tj = Σ_{k<t} α_kj") == "C_ij = Σ_{k<i} α_kj"
    assert Letters(index="i", readout="t_t").write("o_t = W_o ⟨readout⟩ + b_o") == "o_i = W_o t_i + b_o"
