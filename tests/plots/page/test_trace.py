"""A trace as a page: equations with their scripts, numbers beside them, text escaped, steps that fold by themselves."""

from html.parser import HTMLParser

import pytest
import torch

from regard.layers import CELLS
from regard.plots.equations import Run, split_equation
from regard.plots.page.trace import equation_markup, render_trace, trace_html
from regard.tasks.tracing import trace_cell


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("h_t", "<i>h</i><sub><i>t</i></sub>"),
        ("s_{i−1}", "<i>s</i><sub><i>i</i></sub><sub>−1</sub>"),
        ("v_aᵀ tanh(x)", "<i>v</i><sub><i>a</i></sub>ᵀ tanh(<i>x</i>)"),
        ("vᵀ tanh(x)", "<i>v</i>ᵀ tanh(<i>x</i>)"),
        ("h̃_t < 1", "<i>h̃</i><sub><i>t</i></sub> &lt; 1"),
        ("σ(a)", "σ(<i>a</i>)"),
        ("W^{hx} x", "<i>W</i><sup><i>hx</i></sup> <i>x</i>"),
        ("p_gen", "<i>p</i><sub>gen</sub>"),
        ("h_{T_x}", "<i>h</i><sub><i>T</i></sub><sub><i>x</i></sub>"),
    ],
)
def test_equations(text, markup):
    assert equation_markup(text) == markup


def test_runs_hold_the_whole_text():
    text = "α_ij = exp(e_ij) / Σ_k exp(e_{i,k})"
    assert "".join(run.text for run in split_equation(text)) == "αij = exp(eij) / Σk exp(ei,k)"
    assert Run("ij", -1, True) in list(split_equation(text))


class Parsed(HTMLParser):
    VOID = ("meta", "link", "br")

    def __init__(self, text):
        super().__init__()
        self.open, self.names, self.text = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture
def trace():
    torch.manual_seed(1)
    return trace_cell(CELLS["lstmn"](2, 9), torch.randn(3, 2), ["a", "<b>", "&"])


@pytest.mark.parametrize("render", [render_trace, trace_html])
def test_a_page_is_whole_and_escaped(trace, render):
    text = render(trace)
    parsed = Parsed(text)
    assert not parsed.open
    assert "&lt;b&gt;" in text
    assert parsed.names.count("details") == 3
    assert "nothing yet" in parsed.text
    assert parsed.text.count("… 9") > 20


def test_all_components(trace):
    assert "… 9" not in render_trace(trace, 0)


def test_nothing_is_loaded_from_elsewhere(trace):
    text = render_trace(trace)
    assert "http:" not in text
    assert "https:" not in text
    assert "src=" not in text
