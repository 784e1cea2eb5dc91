"""The animated picture: every word and weight is in it, and a still frame is the moving picture at that moment."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import torch

from regard.errors import ConfigError
from regard.layers import GRU
from regard.plots.animation import draw_unrolling, opacity_at
from regard.tasks.trace import Trace
from regard.tasks.tracing import trace_cell, trace_translation, traced_model

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def traced(tiny_model):
    def build(kind="bahdanau", **options):
        with traced_model(tiny_model(kind, **options), "float64") as model:
            tokens = ("w4", "w5 <b>&", "w6", "</s>")
            words = ("w7", "w8", "</s>")
            names = {7: "w7", 8: "w8", 3: "</s>", 2: "</s>", 1: "<s>"}
            sections = trace_translation(
                model, [4, 5, 6], [7, 8, 3], tokens, lambda ids: [names.get(i, f"w{i}") for i in ids]
            )
        return Trace("translate", "w4 w5 w6", tokens, "w7 w8", words, tuple(sections), "float64")

    return build


KINDS = {
    "bahdanau": {},
    "luong": {"cell": "lstm", "num_layers": 2},
    "sutskever": {},
    "cho": {"cell": "lstm"},
    "hard-monotonic": {},
    "deep-fusion": {"cell": "lstmn", "encoder": {"bidirectional": False, "state_size": 4}},
}


@pytest.mark.parametrize("kind", KINDS)
def test_all_words_and_weights_are_there_whatever_the_decoder(traced, kind):
    trace = traced(kind, **KINDS[kind])
    root = ElementTree.fromstring(draw_unrolling(trace))
    texts = ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]
    for word in (*trace.tokens, *trace.output_tokens):
        assert word in texts
    if trace.alpha is not None:
        weights = sorted(f"{weight:.2f}" for weight in trace.alpha.ravel() if weight >= 0.02)
        shown = [
            "".join(each.itertext()) for each in root.iter(f"{SVG}text") if each.get("class") == "weight"
        ]
        assert sorted(shown) == weights


def test_words_are_escaped_and_there_is_no_script(traced):
    text = draw_unrolling(traced())
    assert "w5 &lt;b&gt;&amp;" in text
    assert "<b>" not in text
    assert "<script" not in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_reduced_motion_leaves_the_last_step(traced):
    text = draw_unrolling(traced())
    (rule,) = re.findall(r"@media \(prefers-reduced-motion: reduce\)\{(.*?)\{animation:none\}\}", text)
    moving = set(re.findall(r"\.(k\d+)\{animation:", text))
    assert {name.lstrip(".") for name in rule.split(",")} == moving
    last = ElementTree.fromstring(draw_unrolling(traced(), frame=1e6))
    groups = [each.get("opacity") for each in ElementTree.fromstring(text).findall(f"{SVG}g")]
    assert [float(each) for each in groups] == [
        float(each.get("opacity")) for each in last.findall(f"{SVG}g")
    ]


def test_a_frame_is_the_moving_picture_at_that_moment(traced):
    trace, moment = traced(), 5.3
    text = draw_unrolling(trace)
    total = float(re.search(r"animation:k0 ([\d.]+)s", text)[1])
    tracks = {}
    for name, stops in re.findall(r"@keyframes (k\d+)\{(.*?\})\}", text):
        found = re.findall(r"([\d.]+)%\{opacity:([\d.]+)\}", stops)
        tracks[name] = [(float(at) * total / 100, float(value)) for at, value in found]
    groups = ElementTree.fromstring(text).findall(f"{SVG}g")
    still = ElementTree.fromstring(draw_unrolling(trace, frame=moment)).findall(f"{SVG}g")
    expected = [opacity_at(tracks[group.get("class")], moment) for group in groups]
    np.testing.assert_allclose([float(each.get("opacity")) for each in still], expected, atol=0.02)
    assert len({round(each, 1) for each in expected}) > 1


def test_without_encoder_and_decoder_there_is_nothing_to_draw():
    trace = trace_cell(GRU(2, 2), torch.zeros(2, 2))
    with pytest.raises(ConfigError, match="a trace of the task 'cell' does not have both"):
        draw_unrolling(trace)


def test_seconds_have_a_range(traced):
    with pytest.raises(ConfigError, match="seconds: 0 is out of range"):
        draw_unrolling(traced(), seconds=0)
