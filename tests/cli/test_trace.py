"""`regard trace` and `regard animate`: tables, files, and what is refused."""

import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from regard.layers import CELLS


def test_every_step_with_its_equations(regard, model):
    ended = regard("trace", model, "a b c")
    assert (ended.status, ended.err) == (0, "")
    translation = regard("translate", model, "--beam", 1, stdin="a b c\n").out.strip()
    lines = ended.out.splitlines()
    assert lines[0] == f"a b c → {translation}"
    for title in ("Encoder, forward", "Encoder, backward", "Annotations", "Initial state", "Decoder"):
        assert title in lines
    assert any(line.startswith("α_ij = exp(e_ij) / Σ_k exp(e_ik)") for line in lines)
    for last in ("o_i = W_o t_i + b_o", "p(y_i) = softmax(o_i)"):
        assert sum(line.startswith(last) for line in lines) == len(translation.split()) + 1


def test_one_section_and_one_step_in_the_letters_of_the_slides(regard, model):
    options = [
        "--section",
        "decoder",
        "--step",
        2,
        "--letters",
        "slides",
        "--target",
        "A B",
        "--components",
        2,
    ]
    lines = regard("trace", model, "a b", *options).out.splitlines()
    assert lines[0] == "a b → A B"
    assert any(line.startswith("2  A → B  0.") for line in lines)
    assert not any(line.startswith("1 ") for line in lines)
    (context,) = [line for line in lines if line.startswith("c_t = Σ_i a_{t,i} h_i")]
    assert context.split()[-1] == "16"  # units, of which two are written
    assert len(context.partition("h_i")[2].split()) == 4


def test_json_and_files(regard, model, tmp_path):
    shown = json.loads(regard("trace", model, "a b", "--json", "--float64").out)
    assert shown["dtype"] == "float64"
    for suffix in ("html", "json", "npz"):
        assert regard("trace", model, "a b", "-o", tmp_path / f"trace.{suffix}").out == ""
    assert json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["text"] == "a b"
    with np.load(tmp_path / "trace.npz") as arrays:
        assert "decoder/context" in arrays


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_by_itself(regard, cell):
    ended = regard("trace", "--cell", cell, "the", "cat")
    assert (ended.status, ended.err) == (0, "")
    assert "1  the" in ended.out.splitlines()
    assert "2  cat" in ended.out.splitlines()
    again = regard("trace", "--cell", cell, "the", "cat", "--seed", 2)
    assert again.out != ended.out


def test_a_cell_with_given_numbers(regard, tmp_path):
    given = {"x": [[1, 0], [0, 1]], "W": [[0.5, -0.5]], "U": [[2]], "b": [0]}
    (tmp_path / "cell.json").write_text(json.dumps(given))
    shown = json.loads(regard("trace", "--cell", "rnn", "--numbers", tmp_path / "cell.json", "--json").out)
    states = [step["values"]["state"][0] for step in shown["sections"][0]["steps"]]
    first = np.tanh(0.5)
    assert states == pytest.approx([first, np.tanh(-0.5 + 2 * first)], abs=1e-6)
    assert shown["parameters"]["W"] == [[0.5, -0.5]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"V": 1}', "no parameter 'V'; this cell has W, U, b, and the inputs x"),
        ('{"b": [1, 2, 3, 4, 5]}', "shape"),
        ('{"x": [1, 2]}', "x has the shape (2,); give a row of numbers for each step"),
        ('{"x": []}', "give a row of numbers for each step"),
        ("[1]", "not a JSON object of numbers"),
        ("{", "not a JSON object of numbers"),
        ('{"x": [["a"]]}', "not a JSON object of numbers"),
    ],
)
def test_numbers_that_cannot_be_used(regard, tmp_path, content, message):
    (tmp_path / "cell.json").write_text(content)
    ended = regard("trace", "--cell", "gru", "--numbers", tmp_path / "cell.json")
    assert ended.status == 2
    assert message in ended.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "a trace needs a model and a line"),
        (["MODEL"], "a trace needs a model and a line"),
        (["MODEL", "a", "b"], "2 lines, and a trace is of one; put it in quotes"),
        (["MODEL", "a", "--letters", "greek"], "--letters: no 'greek'; known: papers, slides"),
        (["MODEL", "a", "-o", "x.txt"], "--output x.txt: no format for this suffix; use .html, .json, .npz"),
        (["MODEL", "a", "--section", "reader"], "this trace has encoder.forward"),
        (["MODEL", " "], "the line is blank"),
        (["--cell", "grue"], "did you mean 'gru'"),
        (["--cell", "gru", "--size", "1000"], "--size: 1000 is out of range"),
        (["nowhere", "a"], "nowhere"),
    ],
)
def test_what_is_refused(regard, model, arguments, message):
    ended = regard("trace", *(model if word == "MODEL" else word for word in arguments))
    assert ended.status == 2
    assert message in ended.err
    assert "Traceback" not in ended.err


def test_an_animation_and_a_still_picture_are_svg(regard, model, tmp_path):
    assert regard("animate", model, "a b c", "-o", tmp_path / "moving.svg").status == 0
    assert regard("animate", model, "a b c", "-o", tmp_path / "still.svg", "--frame", 3).status == 0
    moving, still = ((tmp_path / f"{name}.svg").read_text(encoding="utf-8") for name in ("moving", "still"))
    for text in (moving, still):
        ElementTree.fromstring(text)
        assert "<script" not in text
    assert "@keyframes" in moving
    assert "@keyframes" not in still


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["a", "-o", "x.png"], "an animation is an SVG file; name it x.svg"),
        (["a " * 60, "-o", "x.svg"], "at most 40 can be read; give a shorter line"),
        (["a", "-o", "no/such/x.svg"], "cannot be written"),
    ],
)
def test_what_cannot_be_animated(regard, model, options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = regard("animate", model, *options)
    assert ended.status == 2
    assert message in ended.err
