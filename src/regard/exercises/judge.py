"""The check of one file: each function is called with random inputs, and each equation is compared by itself.

What an equation must give is computed from the learner's own values of the earlier equations. So a wrong forget gate is
one error, and a memory that is computed correctly from it is no second one. A result that is right is that of the naive
ops, which `references` computes.

This module runs the learner's code. `runner` starts it as a process: ``python -m regard.exercises.judge FILE EXERCISE
SEED [FUNCTION …]`` writes one JSON object per line to its standard output, and what the learner's code prints goes to
standard error.
"""

import ast
import json
import linecache
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import Tensor

from regard.exercises.catalogue import (
    FOLLOWS,
    NOT_REACHED,
    RIGHT,
    TO_DO,
    WRONG,
    Equation,
    EquationReport,
    read_exercise,
    returned_names,
    solution,
)
from regard.exercises.mutations import Code, mutants
from regard.exercises.references import REFERENCES, SIZES, Reference

_SEVERITY = (RIGHT, FOLLOWS, TO_DO, WRONG)

TOLERANCE = 1e-9
"""The largest difference of two values of an equation; float64 and another order of summation stay below 1e-12."""
_SEEDS_PER_SIZE = 3
_MOST_HINTS = 2
"""How many mistakes that give the same numbers are named."""
_MOST_PAIRS = 2000
"""How many pairs of mistakes are tried where no single one gives the learner's numbers; about a second."""


class _Solution:
    """The functions of a solution, and the code of each of their equations.

    Args:
        exercise: its name.
    """

    def __init__(self, exercise: str) -> None:
        text = solution(exercise).read_text(encoding="utf-8")
        self.variables: dict[str, Any] = {}
        exec(compile(text, f"<solution of {exercise}>", "exec"), self.variables)
        trees = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
        self.code = {tree.name: dict(_divide(tree)) for tree in trees}
        self.functions = {name: self.variables[name] for name in self.code}


def _divide(function: ast.FunctionDef) -> Iterator[tuple[str, Code]]:
    """The name of each equation, with the statements up to the last that assigns it."""
    statements = function.body[:-1]
    for name in returned_names(function):
        end = 1 + max(k for k, statement in enumerate(statements) if name in _assigned(statement))
        yield name, statements[:end]
        statements = statements[end:]


def _assigned(statement: ast.stmt) -> set[str]:
    """The variables that a statement assigns, or appends to."""
    names = set()
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append")):
                names.add(name)
    return names


def _run(code: Code, variables: Mapping[str, Any]) -> dict[str, Any]:
    """The variables after some statements."""
    after = dict(variables)
    exec(compile(ast.Module(code, []), "<equation>", "exec"), after)
    return after


def judge(
    functions: Mapping[str, Any], exercise: str, seed: int, only: Sequence[str] = ()
) -> Iterator[str | list[EquationReport]]:
    """Check the functions of a file; yields a function's name before and after each call, and then its reports.

    Args:
        functions: what the learner's file defines, by name.
        exercise: its name.
        seed: of the random inputs.
        only: the functions to check; all of them by default.
    """
    known = _Solution(exercise)
    for name, equations in read_exercise(exercise).functions.items():
        if only and name not in only:
            continue
        if callable(functions.get(name)):
            yield from _judge_function(name, equations, functions, REFERENCES[exercise][name], known, seed)
            continue
        status, message = TO_DO, "is not in the file; regard check --copy FOLDER has it"
        if name in functions:
            status, message = WRONG, f"is {_kind(functions[name])}, not a function"
        yield name
        yield [EquationReport.of(name, each, status, f"{name} {message}") for each in equations]


def _judge_function(
    name: str,
    equations: Sequence[Equation],
    functions: Mapping[str, Any],
    reference: Reference,
    known: _Solution,
    seed: int,
) -> Iterator[str | list[EquationReport]]:
    """The worst report of each equation over several inputs."""
    reports: list[EquationReport] = []
    # a loop over steps is judged with the learner's own step
    own = {key: functions[key] for key in known.code if key != name and callable(functions.get(key))}
    calls = []
    for case in range(_SEEDS_PER_SIZE * len(SIZES)):
        inputs = reference.random_inputs(seed + case, SIZES[case % len(SIZES)])
        yield name
        calls.append(_Call(functions[name], inputs, [each.name for each in equations]))
        yield name
    for case, call in enumerate(calls):
        sizes = SIZES[case % len(SIZES)]
        truth: dict[str, Any] = {**known.variables, **call.inputs}
        for code in known.code[name].values():
            truth = _run(code, truth)
        truth.update(reference.compute(**call.inputs))
        new = _judge_call(name, equations, call, known, own, truth, calls)
        for k, (before, after) in enumerate(zip(reports, new, strict=False)):
            if _SEVERITY.index(after.status) > _SEVERITY.index(before.status):
                where = f" (not with every input; here T = {sizes['T']}, m = {sizes['m']}, n = {sizes['n']})"
                reports[k] = replace(after, message=after.message and after.message + where)
        reports = reports or new
        if WRONG in {each.status for each in reports}:
            break
    yield reports


class _Call:
    """A call of the learner's function.

    Args:
        function: the learner's.
        inputs: by name; the function gets copies.
        names: of what it must return.

    Attributes:
        inputs: by name, as they were before.
        values: what it returned, by name; if it failed, the local variables of these names.
        failure: why it failed, or that something is not filled in; empty if it returned.
        to_do: whether the failure is that something is not filled in.
        changed: the inputs that it changed.
    """

    def __init__(self, function: Callable[..., Any], inputs: Mapping[str, Any], names: Sequence[str]) -> None:
        self.inputs = inputs
        self.values: dict[str, Any] = {}
        self.failure, self.to_do = "", False
        given = {
            name: value.clone() if isinstance(value, Tensor) else value for name, value in inputs.items()
        }
        try:
            result = function(**given)
        except (Exception, SystemExit) as error:
            self._explain(error, function, names)
        else:
            self._name(result, names)
        self.changed = [
            name
            for name, value in inputs.items()
            if isinstance(value, Tensor) and not torch.equal(value, given[name])
        ]

    def _name(self, result: Any, names: Sequence[str]) -> None:
        parts = result if len(names) > 1 and isinstance(result, tuple) else (result,)
        if len(parts) == len(names):
            self.values = dict(zip(names, parts, strict=True))
            return
        self.to_do = result is ...
        what = f"{len(parts)} values" if isinstance(result, tuple) else _kind(result)
        self.failure = f"returns {what}; {len(names)} are expected: {', '.join(names)}"

    def _explain(self, error: BaseException, function: Callable[..., Any], expected: Sequence[str]) -> None:
        """Take the values from the frame of the function, and say where and why it failed."""
        frames = list(traceback.walk_tb(error.__traceback__))
        file = function.__code__.co_filename if hasattr(function, "__code__") else ""
        inside = [(frame, line) for frame, line in frames if frame.f_code.co_filename == file]
        if not inside:  # the call itself: other arguments than in the template
            self.failure = f"{type(error).__name__}: {error}; keep the arguments as they were"
            return
        variables = inside[0][0].f_locals
        self.values = {name: variables[name] for name in expected if name in variables}
        if self.values and isinstance([*self.values.values()][-1], list):
            self.values.popitem()  # it was still being filled
        frame, line = inside[-1]
        source = linecache.getline(file, line).strip()
        names = dict.fromkeys(node.id for node in _variables(source) if isinstance(node, ast.Name))
        empty = [name for name in names if frame.f_locals.get(name, 0) is ...]
        if empty or "ellipsis" in str(error):
            self.to_do = True
            what = ", ".join(f"`{name}`" for name in empty) or "a value"
            self.failure = f"to do: line {line} uses {what}"
            return
        shapes = ", ".join(_shapes(source, frame))
        self.failure = f"{type(error).__name__} in line {line}, `{source}`: {_first_line(error)}"
        self.failure += f"; there, {shapes}" if shapes else ""


def _judge_call(
    function: str,
    equations: Sequence[Equation],
    call: _Call,
    known: _Solution,
    own: Mapping[str, Any],
    truth: Mapping[str, Any],
    calls: Sequence[_Call],
) -> list[EquationReport]:
    """The reports for one call; a hint on a list of words must fit all calls, as one may agree by chance."""
    variables: dict[str, Any] = {**known.variables, **call.inputs, **own}
    reports: list[EquationReport] = []
    reported = False
    for equation in equations:
        code, before = known.code[function][equation.name], variables
        try:
            variables = _run(code, before)
        except Exception:  # the learner's own values or functions do not fit
            variables = {equation.name: ...}
        if variables[equation.name] is ...:
            before = {**before, **{name: truth[name] for name in known.code[function]}, **known.functions}
            variables = _run(code, before)
        expected = variables[equation.name]
        value = call.values.get(equation.name, ...)
        if value is ...:
            status, message = TO_DO, ""
            if call.failure and not reported and equation.name not in call.values:
                reported, message = True, call.failure
                status = TO_DO if call.to_do else WRONG
                if any(each.status == WRONG and each.difference is None for each in reports):
                    status, message = TO_DO, f"{NOT_REACHED} with the value above: {call.failure}"
            elif call.failure and equation.name not in call.values:
                message = NOT_REACHED
            reports.append(EquationReport.of(function, equation, status, message))
            continue
        fault, difference = _compare(value, expected)
        if not fault:
            follows = bool(_compare(value, truth[equation.name])[0])
            reports.append(EquationReport.of(function, equation, FOLLOWS if follows else RIGHT))
        elif not _compare(value, truth[equation.name])[0]:  # right, without the equations before it
            reports.append(EquationReport.of(function, equation, RIGHT))
        else:
            cases = [(value, before)]
            if isinstance(value, list):
                cases = [
                    (each.values[equation.name], {**before, **each.inputs}) for each in calls if each.values
                ]
            hint = _hint(code, equation.name, cases, variables)
            same = [
                each for each in equations if each != equation and not _compare(value, truth[each.name])[0]
            ]
            if same and not hint:
                hint = f"this is ({same[0].number}) {same[0].quantity}"
            reports.append(
                replace(EquationReport.of(function, equation, WRONG, fault), hint=hint, difference=difference)
            )
        if type(value) is type(expected):
            variables[equation.name] = value
    if call.failure and not reported and not call.to_do:
        k = next((k for k, each in enumerate(reports) if each.status == WRONG), -1)
        reports[k] = EquationReport.of(function, equations[k], WRONG, call.failure)
    if call.changed and reports[-1].status in (RIGHT, FOLLOWS):
        names = ", ".join(f"`{name}`" for name in call.changed)
        message = f"{function} changes its argument {names}; make a new tensor, as in s = s + …, not s += …"
        reports[-1] = replace(reports[-1], status=WRONG, message=message)
    return reports


def _compare(value: Any, expected: Any) -> tuple[str, float | None]:
    """What is wrong with a value, or nothing; and the largest difference, where the shapes agree."""
    if isinstance(expected, list):
        return _compare_words(value, expected)
    if isinstance(expected, int):
        number = value.item() if isinstance(value, Tensor) and value.numel() == 1 else value
        if not isinstance(number, int):
            return f"is {_kind(value)}, not a whole number", None
        return (f"is {number}, not {expected}" if number != expected else ""), None
    if isinstance(value, int | float) and expected.ndim == 0:
        value = torch.tensor(float(value), dtype=expected.dtype)
    if not isinstance(value, Tensor):
        return f"is {_kind(value)}, not a tensor of shape {_shape(expected)}", None
    if value.shape != expected.shape:
        return f"has shape {_shape(value)}, not {_shape(expected)}{_explain_shape(value, expected)}", None
    if value.dtype != expected.dtype:
        name = str(value.dtype).removeprefix("torch.")
        return f"is in {name}; the inputs are in float64, keep their precision", None
    if not value.numel():
        return "", 0.0
    wrong = (value - expected).abs()
    same = (value == expected) | (value.isnan() & expected.isnan())  # −∞ equals −∞
    unequal = ~(wrong <= TOLERANCE) & ~same
    if not unequal.any():
        return "", float(wrong.nan_to_num().max())
    if not torch.isfinite(value[unequal]).all():
        return "has values that are infinite or not a number", None
    largest = float(wrong.nan_to_num(posinf=torch.inf).max())
    text = f"differs by up to {largest:.2g}"
    if value.ndim == 2 and len(value) > 1:
        rows = [k + 1 for k, row in enumerate(unequal) if row.any()]
        same = f"; rows 1 to {rows[0] - 1} agree" if rows[0] > 2 else "; row 1 agrees" if rows[0] == 2 else ""
        text += f" in row {rows[0]} of {len(value)}" if len(rows) == 1 else f" from row {rows[0]} on"
        text += same
    return text, largest


def _explain_shape(value: Tensor, expected: Tensor) -> str:
    """What a tensor of another shape has to do with the right one, or nothing."""
    candidates = {
        "it is transposed": value.mT if value.ndim == 2 else value,
        "without its first row it is right": value[1:] if value.ndim == 2 else value,
        "it is the last row alone": value,
    }
    for words, candidate in candidates.items():
        right = expected[-1] if words.endswith("alone") and expected.ndim == 2 else expected
        if candidate.shape == right.shape and not _compare(candidate, right)[0]:
            return f"; {words}"
    return ""


def _compare_words(value: Any, expected: list[int]) -> tuple[str, float | None]:
    if isinstance(value, Tensor):
        value = value.tolist()
    if not isinstance(value, list | tuple):
        return f"is {_kind(value)}, not a list of whole numbers", None
    words = [word.item() if isinstance(word, Tensor) and word.numel() == 1 else word for word in value]
    if words == expected:
        return "", 0.0
    if words[1:] == expected:
        return f"starts with {words[0]!r}, which is not part of it; the rest is right", None
    pairs = zip(words, expected, strict=False)
    place = next(
        (k for k, (word, right) in enumerate(pairs) if word != right), min(len(words), len(expected))
    )
    if place == len(words):
        return f"ends after {len(words)} words, of {len(expected)}", None
    if place == len(expected):
        return f"does not end after word {len(expected)}, but goes on", None
    return f"differs from word {place + 1} on: {words[place]!r}, not {expected[place]}", None


def _hint(
    code: Code, name: str, cases: Sequence[tuple[Any, Mapping[str, Any]]], after: Mapping[str, Any]
) -> str:
    """The mistake, or two, that gives exactly the learner's values.

    Args:
        code: of the equation.
        name: of its variable.
        cases: the learner's value, and the variables before the equation.
        after: the variables after the equation, in the first case.
    """
    value = cases[0][0]
    if not isinstance(value, Tensor | list):
        return ""
    if isinstance(value, Tensor) and not (
        value.numel() and value.dtype == torch.float64 and value.isfinite().all()
    ):
        return ""

    def like(variable: str) -> list[str]:
        shape = getattr(after.get(variable), "shape", None)
        tensors = {key: each for key, each in after.items() if isinstance(each, Tensor)}
        same = [key for key, each in tensors.items() if each.shape == shape and key not in (variable, name)]
        return same + [
            f"{key}[-1]" for key, each in tensors.items() if len(each.shape) == 2 and each[0].shape == shape
        ]

    def gives(changed: Code) -> bool:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # as of the transpose of a vector
                return not any(_compare(one, _run(changed, before)[name])[0] for one, before in cases)
        except Exception:  # most changes do not fit the shapes
            return False

    single = list(mutants(code, like))
    if same := dict.fromkeys(description for description, changed in single if gives(changed)):
        return ", or ".join(islice(same, _MOST_HINTS))
    if isinstance(value, Tensor):
        pairs = (
            (f"{first}, and {second}", twice)
            for first, changed in single
            for second, twice in mutants(changed, like)
        )
        for description, changed in islice(pairs, _MOST_PAIRS):
            if gives(changed):
                return f"two mistakes: {description}"
    return ""


def _kind(value: Any) -> str:
    """A value's type in words: ``a list``, ``None``."""
    if value is None or value is ...:
        return "None" if value is None else "`...`"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _shape(tensor: Tensor) -> str:
    return str(tuple(tensor.shape))


def _variables(source: str) -> list[ast.Name | ast.Attribute]:
    """The variables in a line of code and their attributes, from left to right."""
    try:
        nodes = ast.walk(ast.parse(source + " pass" if source.endswith(":") else source))
    except SyntaxError:  # a line of a longer statement
        return []
    variables = [node for node in nodes if isinstance(node, ast.Name | ast.Attribute)]
    return sorted(variables, key=lambda node: (node.col_offset, node.end_col_offset or 0))


def _shapes(source: str, frame: FrameType) -> Iterator[str]:
    """The shapes of the tensors in a line of code, and the lengths of its tuples and lists."""
    for node in {ast.unparse(each): each for each in _variables(source)}.values():
        match node:
            case ast.Name(id=name):
                value = frame.f_locals.get(name)
            case ast.Attribute(value=ast.Name(id=name), attr=part):
                value = getattr(frame.f_locals.get(name), part, None)
            case _:
                continue
        if isinstance(value, Tensor):
            yield f"{ast.unparse(node)} is {_shape(value)}"
        elif isinstance(value, tuple | list) and not hasattr(value, "_fields"):
            yield f"{ast.unparse(node)} is {_kind(value)} of {len(value)}"


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or ["no message"])[0]


def _load(path: Path) -> dict[str, Any]:
    """The learner's file, run as a module."""
    sys.path.append(str(path.parent))  # one exercise may import another
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None, path
    assert spec.loader is not None, path
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)


def _explain_load(error: BaseException, path: Path) -> str:
    if isinstance(error, SyntaxError) and error.filename == str(path):
        line = f", `{error.text.strip()}`" if error.text else ""
        return f"it is not Python: {error.msg} in line {error.lineno}{line}"
    lines = [
        line
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename == str(path)
    ]
    where = f" in line {lines[-1]}" if lines else ""
    return f"it cannot be run: {type(error).__name__}{where}: {_first_line(error)}"


def main(arguments: Sequence[str]) -> None:
    """Check a file; see the module's docstring."""
    file, exercise, seed, *only = arguments
    torch.set_num_threads(1)
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as channel:
        os.dup2(2, 1)

        def send(**message: Any) -> None:
            channel.write(json.dumps(message) + "\n")
            channel.flush()

        send(ready=True)
        try:
            functions = _load(Path(file))
        except (Exception, SystemExit) as error:
            send(failure=_explain_load(error, Path(file)))
            return
        for each in judge(functions, exercise, int(seed), only):
            if isinstance(each, str):
                send(function=each)
            else:
                send(equations=[asdict(report) for report in each])
        send(finished=True)


if __name__ == "__main__":
    main(sys.argv[1:])
