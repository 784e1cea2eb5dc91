"""Every solution is right, and the naive ops' result; every typical mistake is reported at its equation."""

import ast
import json
import linecache

import pytest
import torch

from regard.exercises.catalogue import EXERCISES, read_exercise, returned_names, solution, template
from regard.exercises.judge import judge
from regard.exercises.references import REFERENCES, SIZES

MISTAKES = [
    # exercise, function, the solution's code → the mistake, the equation, a part of the message or the hint
    ("rnn", "rnn_step", "b + W @ s + U @ x", "W @ s + U @ x", 1, "the term `b` is missing"),
    ("rnn", "rnn_step", "W @ s", "W.T @ s", 1, "`W` is transposed"),
    ("rnn", "rnn_step", "tanh(a)", "sigmoid(a)", 2, "σ in place of tanh"),
    ("rnn", "rnn_step", "V @ new_s", "V @ s", 3, "`s` in place of `new_s`"),
    ("rnn", "rnn_step", "softmax(o, dim=0)", "exp(o)", 4, "exp in place of softmax"),
    ("rnn", "rnn", "W @ s +", "W @ s0 +", 1, "`s0` in place of `s`"),
    ("rnn", "rnn", "s = s0", "s = torch.zeros_like(s0)", 1, "zeros in place of `s0`"),
    ("rnn", "rnn", "steps = []", "steps = [s0]", 1, "not (4, 5); without its first row it is right"),
    ("rnn", "rnn", "torch.stack(steps)", "s", 1, "not (4, 5); it is the last row alone"),
    ("rnn", "sigmoid_step", "torch.sigmoid", "torch.tanh", 1, "tanh in place of σ"),
    ("rnn", "sigmoid_step", "W_yh @ new_h", "torch.softmax(W_yh @ new_h, dim=0)", 2, "softmax is applied in addition"),
    ("lstm", "lstm_step", "U.f @ h + b.f", "U.f @ h", 2, "the term `b.f` is missing"),
    ("lstm", "lstm_step", "torch.sigmoid(W.o", "torch.tanh(W.o", 4, "tanh in place of σ"),
    ("lstm", "lstm_step", "W.f @ x", "W.i @ x", 2, "`W.i` in place of `W.f`"),
    ("lstm", "lstm_step", "f * c + i * candidate", "i * c + f * candidate", 5, "`f` and `i` are exchanged"),
    ("lstm", "lstm_step", "o * torch.tanh(new_c)", "o * torch.tanh(c)", 6, "`c` in place of `new_c`"),
    ("lstm", "lstm_step", "o * torch.tanh(new_c)", "o * new_c", 6, "`tanh` is missing"),
    ("lstm", "lstm_step", "f * c", "f @ c", 5, "the product `f @ c`, not the elementwise one"),
    ("lstm", "lstm", "lstm_step(x, h, c,", "lstm_step(x, h0, c,", 1, "`h0` in place of `h`"),
    ("gru", "gru_step", "(1 - z) * s + z * candidate", "z * s + (1 - z) * candidate", 4, "exchanged"),
    ("gru", "gru_step", "U.s @ (r * s)", "r * (U.s @ s)", 3, "`r` is applied after the product with `U.s`"),
    ("gru", "gru_step", "U.s @ (r * s)", "U.s @ (z * s)", 3, "`z` in place of `r`"),
    ("gru", "gru_step", "U.r @ s", "U.r.T @ s", 2, "`U.r` is transposed"),
    ("gru", "gru", "gru_step(x, s,", "gru_step(x, s0,", 1, "`s0` in place of `s`"),
    ("gru", "gru", "in xs", "in xs.flip(0)", 1, "the steps go backwards"),
    ("language_model", "log_probability", "dim=1", "dim=0", 1, "goes along axis 0, not axis 1"),
    ("language_model", "log_probability", "own.sum()", "own.mean()", 3, "`mean` in place of `sum`"),
    ("language_model", "log_probability", "own.sum()", "-own.sum()", 3, "the sign of `total`"),
    ("language_model", "log_probability", "own.sum()", "own.exp().prod()", 3, "exp is applied in addition"),
    ("language_model", "log_probability", "log_softmax(logits, dim=1)", "log(logits)", 1, "infinite or not a number"),
    ("language_model", "log_probability", "log_softmax", "softmax", 1, "softmax in place of log softmax"),
    ("language_model", "sample_word", "logits / temperature", "logits", 1, "the division by `temperature`"),
    ("language_model", "sample_word", "ends > u", "p > u", 3, "is "),
    ("language_model", "sample_sentence", "[start, *words]", "[start, *words[-1:]]", 1, "differs from word"),
    ("language_model", "sample_sentence", "== end", "== start", 1, "word"),
    ("language_model", "sample_sentence", "break", "pass", 1, "`if words[-1] == end` is missing: the loop goes on"),
    ("language_model", "sample_sentence", "[start, *words]", "words", 1, "out of range; there, words is a list"),
    ("pooling", "last_state", "H[mask][-1]", "H[-1]", 1, "the mask is missing"),
    ("pooling", "mean_pooling", "H[mask].mean(dim=0)", "H.mean(dim=0)", 1, "the mask is missing"),
    ("pooling", "attention_pooling", "e.masked_fill(~mask, -torch.inf)", "e", 2, "the mask is missing"),
    ("pooling", "attention_pooling", "H @ W.T + b", "H @ W.T", 1, "the term `b` is missing"),
    ("pooling", "attention_pooling", "e.masked_fill(~mask, -torch.inf)", "e * mask", 2, "padding is filled with 0"),
    ("seq2seq", "encode", "U @ h +", "U @ h0 +", 1, "`h0` in place of `h`"),
    ("seq2seq", "encode", "states[-1]", "states[0]", 2, "the first of `states`, not the last"),
    ("seq2seq", "decoder_step", "+ C @ c", "", 1, "the term `C @ c` is missing"),
    ("seq2seq", "decoder_step", "V @ new_s", "V @ s", 2, "`s` in place of `new_s`"),
    ("seq2seq", "greedy", "words[-1] if words else start", "start", 1, "word"),
    ("seq2seq", "greedy", "p.argmax()", "p.max()", 1, "of a typical mistake: `max` in place of `argmax`"),
    ("seq2seq", "greedy", "E[y]", "E[y:]", 1, "RuntimeError in line"),
    ("bahdanau", "annotations", "torch.flip(backward_states, dims=[0])", "backward_states", 1, "`flip` is missing"),
    ("bahdanau", "annotations", "[forward_states, in_order]", "[in_order, forward_states]", 2, "exchanged"),
    ("bahdanau", "attention", "torch.tanh(W_a @ s + H @ U_a.T)", "(W_a @ s + H @ U_a.T)", 1, "`tanh` is missing"),
    ("bahdanau", "attention", "softmax(e, dim=0)", "sigmoid(e)", 2, "σ in place of softmax"),
    ("bahdanau", "decoder_step", "f(s, y, context)", "f(s, y, H.mean(dim=0))", 2, "differs by up to"),
    ("bahdanau", "alignment", "attention(s, H,", "attention(s0, H,", 1, "`s0` in place of `s`"),
    ("bahdanau", "alignment", "v_a)[1]", "v_a)[0]", 1, "v_a)[0]` in place of `attention(s, H, W_a, U_a, v_a)[1]`"),
    ("bahdanau", "attention", "alpha @ H", "H.mean(dim=0)", 3, "the mean of `H`, without the weights `alpha`"),
    ("luong", "scores", "dot = K @ q", "dot = K * q", 1, "`K` and `q` are multiplied element by element"),
    ("luong", "scores", "K @ q / math.sqrt(K.shape[1])", "K @ q", 2, "the division by `math.sqrt(K.shape[1])`"),
    ("luong", "scores", "math.sqrt(K.shape[1])", "K.shape[1]", 2, "without the root"),
    ("luong", "scores", "W.T @ q", "W @ q", 3, "`W` is transposed the other way"),
    ("luong", "scores", "[q.expand(len(K), -1), K]", "[K, q.expand(len(K), -1)]", 4, "other order"),
    ("luong", "attentional_state", "[context, h]", "[h, context]", 3, "`context` and `h` are exchanged"),
    ("luong", "attentional_state", "H @ h", "H @ h / len(h) ** 0.5", 1, "`H @ h` is divided by the root"),
    ("query_key_value", "project", "Q = W_Q @ X", "Q = X.T @ W_Q.T", 1, "not (5, 4); it is transposed"),
    ("query_key_value", "project", "V = W_V @ X", "V = X", 3, "the product with `W_V` is missing"),
    ("query_key_value", "self_attention", "dim=0", "dim=1", 2, "`softmax` goes along axis 1, not axis 0"),
    ("query_key_value", "self_attention", " / math.sqrt(K.shape[0])", "", 1, "the division by"),
    ("query_key_value", "self_attention", "K.T @ Q", "Q.T @ K", 1, "exchanged"),
    ("query_key_value", "project", "K = W_K @ X", "K = W_Q @ X", 2, "`W_Q` in place of `W_K`"),
    ("query_key_value", "attend", "softmax(similarities, dim=0)", "exp(similarities)", 2, "exp in place"),
    ("self_attentive_rnn", "sum_step", "torch.cat([tape, h[None]])", "tape", 2, "has shape (3, 5), not (4, 5)"),
    ("self_attentive_rnn", "sum_step", "[x, c]", "[c, x]", 1, "other order"),
    ("self_attentive_rnn", "sum_step", "(W_Q @ h)", "(W_K @ h)", 3, "`W_K` in place of `W_Q`"),
    ("self_attentive_rnn", "sum_rnn", "sum_step(x, c, tape", "sum_step(x, 0 * c, tape", 1, "from row 2 on"),
    ("self_attentive_rnn", "sum_step", "[x, c]", "[x, tape[-1]]", 1, "`tape[-1]` in place of `c`"),
    ("self_attentive_rnn", "sum_rnn", "_, tape, _, c =", "_, _, _, c =", 1, "`tape` is not updated"),
    ("self_attentive_rnn", "read_step", "+ W_s @ s", "", 1, "the term `W_s @ s` is missing"),
    ("self_attentive_rnn", "read_step", "[x, new_s]", "[x, s]", 4, "`s` in place of `new_s`"),
    ("lstmn", "attend", "alpha @ cs", "alpha @ hs", 4, "`hs` in place of `cs`"),
    ("lstmn", "attend", "+ W_x @ x", "", 1, "the term `W_x @ x` is missing"),
    ("lstmn", "attend", "alpha @ cs", "cs[-1]", 4, "the last row of `cs`, not the sum with `alpha`"),
    ("lstmn", "update", "o * new_c", "o * torch.tanh(new_c)", 6, "tanh is applied to `new_c` in addition"),
    ("lstmn", "update", "f * recalled", "f * s", 5, "`s` in place of `recalled`"),
    ("lstmn", "update", "torch.tanh(W.c @ x + U.c @ s + b.c)", "torch.sigmoid(W.c @ x + U.c @ s)", 3, "two mistakes"),
]  # fmt: skip


def functions_of(text):
    functions = {}
    linecache.cache["learner.py"] = (len(text), None, text.splitlines(keepends=True), "learner.py")
    exec(compile(text, "learner.py", "exec"), functions)
    return functions


def change(exercise, function, old, new):
    """The solution of an exercise with one mistake in one function."""
    text = solution(exercise).read_text(encoding="utf-8")
    start = text.index(f"def {function}(")
    end = text.find("\ndef ", start) % len(text)
    assert old in text[start:end], f"{function} has no {old!r}"
    return text[:start] + text[start:end].replace(old, new, 1) + text[end:]


def reports(exercise, functions, only=()):
    return [each for part in judge(functions, exercise, 0, only) if isinstance(part, list) for each in part]


@pytest.mark.parametrize("exercise", EXERCISES)
def test_a_solution_is_right(exercise):
    functions = functions_of(solution(exercise).read_text(encoding="utf-8"))
    assert {each.status for each in reports(exercise, functions)} == {"right"}


@pytest.mark.parametrize("exercise", EXERCISES)
def test_a_solution_computes_what_the_naive_ops_compute(exercise):
    functions = functions_of(solution(exercise).read_text(encoding="utf-8"))
    for name, equations in read_exercise(exercise).functions.items():
        for seed, sizes in enumerate(SIZES):
            inputs = REFERENCES[exercise][name].random_inputs(seed, sizes)
            result = functions[name](**inputs)
            names = [each.name for each in equations]
            values = dict(zip(names, result if len(names) > 1 else (result,), strict=True))
            expected = REFERENCES[exercise][name].compute(**inputs)
            assert expected, f"{name}: no op computes any of it"
            for quantity, value in expected.items():
                torch.testing.assert_close(values[quantity], value, rtol=0, atol=1e-12)


@pytest.mark.parametrize("exercise", EXERCISES)
def test_a_template_has_the_functions_of_its_solution_and_every_name_and_shape_explained(exercise):
    trees = [ast.parse(path(exercise).read_text(encoding="utf-8")) for path in (template, solution)]
    pairs = zip(
        *([node for node in tree.body if isinstance(node, ast.FunctionDef)] for tree in trees), strict=True
    )
    for empty, filled in pairs:
        assert empty.name == filled.name
        names = [argument.arg for argument in empty.args.args]
        assert names == [argument.arg for argument in filled.args.args]
        assert returned_names(empty) == returned_names(filled)
        docstring = ast.get_docstring(empty)
        for name in names:
            assert f"\n    {name}: " in docstring, f"{empty.name}: the docstring does not explain {name}"
        values = [node.value for node in empty.body if isinstance(node, ast.Assign)]
        assert [ast.unparse(value) for value in values] == ["..."] * len(returned_names(empty))


@pytest.mark.parametrize("exercise", EXERCISES)
def test_nothing_filled_in_is_to_do(exercise):
    functions = functions_of(template(exercise).read_text(encoding="utf-8"))
    assert {(each.status, each.message) for each in reports(exercise, functions)} == {("to do", "")}


@pytest.mark.parametrize("exercise", EXERCISES)
def test_every_exercise_has_three_mistakes_here(exercise):
    assert sum(each[0] == exercise for each in MISTAKES) >= 3
    assert {each[1] for each in MISTAKES if each[0] == exercise} == {*read_exercise(exercise).functions}


@pytest.mark.parametrize(
    ("exercise", "function", "old", "new", "number", "message"),
    MISTAKES,
    ids=[f"{each[0]}-{each[1]}-{each[4]}-{each[5]}" for each in MISTAKES],
)
def test_a_mistake_is_named_at_its_equation_and_nowhere_else(exercise, function, old, new, number, message):
    functions = functions_of(change(exercise, function, old, new))
    result = reports(exercise, functions, [function])
    [wrong] = [each for each in result if each.status == "wrong"]
    assert wrong.number == number
    assert message in f"{wrong.message}; of a typical mistake: {wrong.hint}"
    assert wrong.message
    assert {each.status for each in result if each.number < number} <= {"right"}
    assert "to do" not in {each.status for each in result}
    json.dumps(wrong.difference)


def lstm_verdicts(body, others=""):
    """The reports on an ``lstm_step`` with this body."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"import torch\n\n\ndef lstm_step(x, h, c, W, U, b):\n{lines}{others}"
    return reports("lstm", functions_of(text), ["lstm_step"])


GATES = """i = torch.sigmoid(W.i @ x + U.i @ h + b.i)
f = torch.sigmoid(W.f @ x + U.f @ h + b.f)
candidate = torch.tanh(W.c @ x + U.c @ h + b.c)
o = torch.sigmoid(W.o @ x + U.o @ h + b.o)
"""
REST = """new_c = f * c + i * candidate
new_h = o * torch.tanh(new_c)
return i, f, candidate, o, new_c, new_h"""


def test_what_is_filled_in_is_checked_although_the_rest_is_to_do():
    body = GATES.replace("tanh(W.c @ x + U.c @ h + b.c)", "tanh(W.c @ x)") + "new_c = ...\nnew_h = ...\n"
    result = lstm_verdicts(body + "return i, f, candidate, o, new_c, new_h")
    assert [each.status for each in result] == ["right", "right", "wrong", "right", "to do", "to do"]
    assert result[2].hint == "two mistakes: the term `b.c` is missing, and the term `U.c @ h` is missing"


def test_a_line_that_uses_what_is_not_filled_in_is_to_do_and_those_before_it_are_checked():
    body = GATES.replace("torch.tanh(W.c @ x + U.c @ h + b.c)", "...") + REST
    result = lstm_verdicts(body)
    assert [each.status for each in result] == ["right", "right", "to do", "right", "to do", "to do"]
    assert result[4].message == "to do: line 9 uses `candidate`"


def test_an_equation_that_uses_wrong_values_rightly_is_not_a_second_error():
    result = lstm_verdicts(GATES.replace("b.f", "b.i") + REST)
    assert [each.status for each in result] == ["right", "wrong", "right", "right", "follows", "follows"]
    assert 0.001 < result[1].difference < 1


def test_attending_after_the_step_and_not_before_it_is_named():
    functions = functions_of(solution("bahdanau").read_text(encoding="utf-8"))
    before = functions["alignment"](**REFERENCES["bahdanau"]["alignment"].random_inputs(0, SIZES[0]))

    def alignment(ys, s0, H, W_a, U_a, v_a, f):
        rows, s = [], s0
        for y in ys:
            _, s = functions["decoder_step"](y, s, H, W_a, U_a, v_a, f)
            rows.append(functions["attention"](s, H, W_a, U_a, v_a)[1])
        return torch.stack(rows)

    [report] = reports("bahdanau", {**functions, "alignment": alignment}, ["alignment"])
    assert before.shape == (4, 4)
    assert report.hint.endswith("comes before `rows.append(attention(s, H, W_a, U_a, v_a)[1])`, not after it")


def test_values_that_are_returned_in_another_order_are_named():
    result = lstm_verdicts((GATES + REST).replace("return i, f, candidate, o", "return i, f, o, candidate"))
    assert [each.hint for each in result[2:4]] == ["this is (4) the output gate", "this is (3) the new value"]


def test_a_value_that_is_not_a_number_is_one_error():
    functions = functions_of(
        change("language_model", "log_probability", "log_softmax(logits, dim=1)", "log(logits)")
    )
    result = reports("language_model", functions, ["log_probability"])
    assert [each.status for each in result] == ["wrong", "follows", "follows"]


def test_a_line_that_fails_because_of_a_wrong_shape_before_it_is_no_second_error():
    result = lstm_verdicts((GATES + REST).replace("i = torch.sigmoid(W.i @ x + U.i @ h + b.i)", "i = W.i"))
    assert [each.status for each in result] == ["wrong", "right", "right", "right", "to do", "to do"]
    assert result[4].message.startswith("not reached with the value above: RuntimeError in line 9")


@pytest.mark.parametrize("begun", ["[]", "torch.zeros(len(xs), len(s0), dtype=xs.dtype)"])
def test_an_error_in_a_loop_is_reported_and_not_the_unfinished_value(begun):
    body = f"    states = {begun}\n    for x in xs:\n        s0 = torch.tanh(b + W @ x + U @ s0)\n    return states\n"
    functions = functions_of(f"import torch\n\n\ndef rnn(xs, s0, U, W, b):\n{body}")
    [report] = reports("rnn", functions, ["rnn"])
    assert report.status == "wrong"
    assert report.message.startswith(
        "RuntimeError in line 7, `s0 = torch.tanh(b + W @ x + U @ s0)`: size mismatch"
    )


def test_what_a_function_returned_whole_is_named_where_a_tensor_is_needed():
    [report] = reports("gru", functions_of(change("gru", "gru", "b)[-1]", "b)")), ["gru"])
    assert "s is a tuple of 4" in report.message


def test_a_loop_is_judged_with_the_step_of_the_same_file():
    functions = functions_of(change("lstm", "lstm_step", "f * c", "c"))
    assert [each.status for each in reports("lstm", functions)][-3:] == ["wrong", "follows", "follows"]


@pytest.mark.parametrize(
    ("old", "new", "number", "message"),
    [
        ("W.f @ x", "W.f @ h", 2, "RuntimeError in line 6, `f = torch.sigmoid(W.f @ h + U.f @ h + b.f)`: size mis"),
        ("W.f @ x", "W.f @ h", 2, "there, W.f is (5, 3), h is (5,), U.f is (5, 5), b.f is (5,)"),
        ("W.f @ x", "W.forget @ x", 2, "AttributeError in line 6"),
        ("i = torch.sigmoid(", "i = list(", 1, "is a list, not a tensor of shape (5,)"),
        ("i = torch.sigmoid(W.i @ x + U.i @ h + b.i)", "i = 0.5", 1, "is a float, not a tensor of shape (5,)"),
        ("i = torch.sigmoid(W.i @ x + U.i @ h + b.i)", "i = W.i", 1, "has shape (5, 3), not (5,)"),
        ("+ b.i)", "+ b.i).float()", 1, "is in float32; the inputs are in float64"),
        ("+ b.i)", "+ b.i) / 0", 1, "has values that are infinite or not a number"),
        ("+ b.i)", "+ b.i) - torch.nan", 1, "has values that are infinite or not a number"),
        ("return i, f, candidate, o, new_c, new_h", "return new_h, new_c", 1, "returns 2 values; 6 are expected"),
        ("return i, f, candidate, o, new_c, new_h", "pass", 1, "returns None; 6 are expected: i, f, candidate"),
        ("return i, f, candidate", "return i, None, candidate", 2, "is None, not a tensor of shape (5,)"),
        ("return i, f", "c += 1\nreturn i, f", 6, "lstm_step changes its argument `c`"),
        ("new_c = f", "exit()\nnew_c = f", 5, "SystemExit in line 9, `exit()`"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_named(old, new, number, message):
    body = GATES + REST
    assert old in body
    result = lstm_verdicts(body.replace(old, new, 1))
    wrong = next(each for each in result if each.status == "wrong")
    assert wrong.number == number
    assert message in wrong.message


def test_other_arguments_than_the_template_s_are_named():
    functions = functions_of("def rnn_step(x, s, U, W, b):\n    return ...\n\n\nrnn = 3\n")
    result = reports("rnn", functions)
    assert result[0].status == "wrong"
    assert "unexpected keyword argument 'V'; keep the arguments as they were" in result[0].message
    assert result[4].message == "rnn is an int, not a function"
    assert (result[5].status, result[5].message) == (
        "to do",
        "sigmoid_step is not in the file; regard check --copy FOLDER has it",
    )


def test_an_error_for_some_inputs_only_says_for_which():
    functions = functions_of(change("rnn", "rnn", "torch.stack(steps)", "torch.stack(steps[:4])"))
    [report] = reports("rnn", functions, ["rnn"])
    assert report.message == "has shape (4, 2), not (7, 2) (not with every input; here T = 7, m = 4, n = 2)"


def test_the_numbers_of_the_inputs_depend_on_the_seed():
    reference = REFERENCES["rnn"]["rnn"]
    assert torch.equal(*(reference.random_inputs(seed, SIZES[0])["xs"] for seed in (3, 3)))
    assert not torch.equal(*(reference.random_inputs(seed, SIZES[0])["xs"] for seed in (3, 4)))
