"""Typical mistakes, made on purpose: small changes of an equation's code, each with its description.

If the numbers of a changed equation are the numbers that a learner's code computed, the description is the hint: the
sign, the missing term, the wrong axis. Every change is one rule about one node of the syntax tree, so the rules know
nothing about the single exercises.
"""

import ast
import copy
from collections.abc import Callable, Iterator

Code = list[ast.stmt]
"""The statements that compute an equation."""

Change = tuple[str, ast.AST]
"""A description, and what takes the place of a node."""

_FUNCTIONS = {
    "sigmoid": "σ",
    "tanh": "tanh",
    "softmax": "softmax",
    "log_softmax": "log softmax",
    "exp": "exp",
}
_OTHERS = {
    "sigmoid": ("tanh",),
    "tanh": ("sigmoid",),
    "softmax": ("log_softmax", "exp", "sigmoid"),
    "log_softmax": ("softmax",),
}
"""torch functions that are taken for one another."""
_METHODS = {"sum": ("mean", "prod"), "mean": ("sum",), "argmax": ("argmin", "max")}
_GATES = ("i", "f", "c", "o", "z", "r", "s")


def mutants(code: Code, like: Callable[[str], list[str]]) -> Iterator[tuple[str, Code]]:
    """Every single change of some statements, with its description.

    Args:
        code: the statements; they are not changed.
        like: name of a variable → what could be mistaken for it, as it has the same shape: other variables, or the last
            row of a matrix.
    """
    module = ast.Module(code, [])
    names = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
    for one in sorted(names):
        for other in sorted(names & {*like(one)}):
            if one < other:
                exchanged = _Renamed({one: other, other: one}).visit(copy.deepcopy(module))
                yield f"`{one}` and `{other}` are exchanged", exchanged.body
    for node in ast.walk(module):
        for description, replacement in _changes(node, like):
            # deepcopy takes the replacement for the copy of the node
            changed = copy.deepcopy(module, {id(node): replacement})
            yield description, ast.fix_missing_locations(changed).body


class _Renamed(ast.NodeTransformer):
    """Other names for the variables that are read."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if isinstance(node.ctx, ast.Load):
            node.id = self.names.get(node.id, node.id)
        return node


def _changes(node: ast.AST, like: Callable[[str], list[str]]) -> Iterator[Change]:
    match node:
        case ast.stmt():
            yield from _statement_changes(node)
        case ast.BinOp(left, op, right):
            yield from _operator_changes(left, op, right)
        case ast.Call(func=ast.Attribute(value, name), args=args):
            yield from _call_changes(node, value, name, args)
        case ast.Name(id=name, ctx=ast.Load()):
            for other in like(name):
                yield f"`{other}` in place of `{name}`", _expression(other)
        case ast.Name(id=name, ctx=ast.Store()):
            yield f"`{name}` is not updated", ast.Name("_", ast.Store())
        case ast.Attribute(value=ast.Name(id=name), attr=part) if part in _GATES:
            for other in _GATES:
                if other != part:
                    yield f"`{name}.{other}` in place of `{name}.{part}`", _attribute(node.value, other)
        case ast.Attribute(value=value, attr="T"):
            yield f"`{_text(value)}` is transposed the other way", value
        case ast.Subscript(value, index):
            yield from _index_changes(value, index)
        case ast.Compare(left, [op], [right]):
            for comparison in (ast.Lt(), ast.Gt(), ast.GtE(), ast.LtE()):
                if type(comparison) is not type(op):
                    compared = ast.Compare(left, [comparison], [right])
                    yield f"`{_text(compared)}` in place of `{_text(node)}`", compared
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield f"`{_text(operand)}` in place of `{_text(node)}`", operand
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            yield f"`{_text(operand)}` means the opposite", operand


def _statement_changes(node: ast.stmt) -> Iterator[Change]:
    match node:
        case ast.Assign([ast.Name(name)], ast.Call() | ast.BinOp() as value):
            yield f"the sign of `{name}`", ast.Assign(node.targets, ast.UnaryOp(ast.USub(), value))
            match value:
                case ast.Call(func=ast.Attribute(attr=applied)) if applied in _OTHERS:
                    return
            for added in ("softmax", "exp", "tanh", "sigmoid"):
                call = f"torch.{added}({_text(value)}{', dim=-1' if added == 'softmax' else ''})"
                words = f"{_FUNCTIONS[added]} is applied in addition"
                yield words, ast.Assign(node.targets, _expression(call))
        case ast.Assign(targets, ast.Name(name)):
            yield f"zeros in place of `{name}`", ast.Assign(targets, _expression(f"0 * {name}"))
        case ast.For(target, steps, body):
            backwards = _expression(f"reversed(list({_text(steps)}))")
            yield "the steps go backwards", ast.For(target, backwards, body, [])
            for k, line in enumerate(body):
                if isinstance(line, ast.If):
                    words = f"`if {_text(line.test)}` is missing: the loop goes on"
                    yield words, ast.For(target, steps, [*body[:k], *body[k + 1 :]], [])
                elif k:
                    words = f"`{_text(line)}` comes before `{_text(body[k - 1])}`, not after it"
                    moved = [*body[: k - 1], line, body[k - 1], *body[k + 1 :]]
                    yield words, ast.For(target, steps, moved, [])


def _operator_changes(left: ast.expr, op: ast.operator, right: ast.expr) -> Iterator[Change]:
    a, b = _text(left), _text(right)
    match op:
        case ast.Add():
            yield f"the term `{b}` is missing", left
            yield f"the term `{a}` is missing", right
            yield f"`{b}` is subtracted, not added", ast.BinOp(left, ast.Sub(), right)
            yield f"`{a}` and `{b}` are multiplied, not added", ast.BinOp(left, ast.Mult(), right)
        case ast.Sub():
            yield f"`{b}` is added, not subtracted", ast.BinOp(left, ast.Add(), right)
            yield f"`{b}` in place of `{a} - {b}`", right
        case ast.Mult():
            yield f"the factor `{a}` is missing", right
            yield f"the factor `{b}` is missing", left
            yield f"`{a}` and `{b}` are added, not multiplied", ast.BinOp(left, ast.Add(), right)
            yield f"the product `{a} @ {b}`, not the elementwise one", ast.BinOp(left, ast.MatMult(), right)
            if isinstance(right, ast.Name):
                squashed = ast.BinOp(left, op, _expression(f"torch.tanh({b})"))
                yield f"tanh is applied to `{b}` in addition", squashed
            if isinstance(left, ast.Name):
                opposite = ast.BinOp(ast.Constant(1), ast.Sub(), left)
                yield f"`1 - {a}` in place of `{a}`", ast.BinOp(opposite, op, right)
        case ast.Div():
            yield f"the division by `{b}` is missing", left
            yield f"multiplied by `{b}`, not divided", ast.BinOp(left, ast.Mult(), right)
            match right:
                case ast.Call(func=ast.Attribute(attr="sqrt"), args=[root]):
                    yield f"divided by `{_text(root)}`, without the root", ast.BinOp(left, op, root)
                    match root:
                        case ast.Subscript(value, ast.Constant(int(axis))):
                            other = ast.Subscript(value, ast.Constant(1 - axis), ast.Load())
                            scaled = ast.BinOp(left, op, ast.Call(right.func, [other], []))
                            yield f"the root of `{_text(other)}`, not of `{_text(root)}`", scaled
        case ast.MatMult():
            if not a.endswith(".T"):
                yield f"`{a}` is transposed", ast.BinOp(_attribute(left, "T"), op, right)
            if not b.endswith(".T"):
                yield f"`{b}` is transposed", ast.BinOp(left, op, _attribute(right, "T"))
            yield f"`{a}` and `{b}` are multiplied in the other order", ast.BinOp(right, op, left)
            yield f"the product with `{a}` is missing", right
            yield f"`{a}` and `{b}` are multiplied element by element", ast.BinOp(left, ast.Mult(), right)
            root = ast.BinOp(ast.BinOp(left, op, right), ast.Div(), _expression(f"({a}).shape[-1] ** 0.5"))
            yield f"`{a} @ {b}` is divided by the root of its number of terms", root
            for rows, weights in ((right, a), (left, b)):  # a weighted sum of rows, or of columns
                M = _text(rows).removesuffix(".T")
                yield f"the mean of `{M}`, without the weights `{weights}`", _expression(f"{M}.mean(dim=0)")
                yield f"the last row of `{M}`, not the sum with `{weights}`", _expression(f"{M}[-1]")
            match right:
                case ast.BinOp(first, ast.Mult(), second):
                    late = ast.BinOp(first, ast.Mult(), ast.BinOp(left, op, second))
                    yield f"`{_text(first)}` is applied after the product with `{a}`, not before it", late


def _call_changes(node: ast.Call, value: ast.expr, name: str, args: list[ast.expr]) -> Iterator[Change]:
    def called(other: str, *, given: list[ast.expr] = args, named: bool = True) -> ast.Call:
        return ast.Call(ast.Attribute(value, other, ast.Load()), given, node.keywords if named else [])

    for other in _METHODS.get(name, ()):
        yield f"`{other}` in place of `{name}`", called(other)
    for other in _OTHERS.get(name, ()):
        words = f"{_FUNCTIONS[other]} in place of {_FUNCTIONS[name]}"
        yield words, called(other, named=other.endswith("softmax"))
    for keyword in node.keywords:
        match keyword:
            case ast.keyword("dim", ast.Constant(int(axis))):
                for other_axis in {0, 1} - {axis}:
                    moved = ast.Call(node.func, args, [ast.keyword("dim", ast.Constant(other_axis))])
                    yield f"`{name}` goes along axis {other_axis}, not axis {axis}", moved
    match args:
        case [ast.List(parts), *_] if name == "cat":
            yield (
                "the parts of the concatenation are in the other order",
                called(name, given=[ast.List(parts[::-1], ast.Load())]),
            )
            for k, part in enumerate(parts):
                rest = ast.List([*parts[:k], *parts[k + 1 :]], ast.Load())
                yield f"`{_text(part)}` is missing from the concatenation", called(name, given=[rest])
        case [ast.List()]:
            pass
        case [inner, *_] if name in (*_FUNCTIONS, "flip", "cumsum"):
            yield f"`{_FUNCTIONS.get(name, name)}` is missing", inner
    if name == "masked_fill":
        yield "the mask is missing: padding has weight", value
        zero = called(name, given=[args[0], ast.Constant(0)])
        yield "padding is filled with 0, and exp(0) = 1 has weight; −∞ has none", zero


def _index_changes(value: ast.expr, index: ast.expr) -> Iterator[Change]:
    match index:
        case ast.Name("mask"):
            yield "the mask is missing: padding counts", value
        case ast.Constant(1) if isinstance(value, ast.Call):  # of what a function returns
            for other in (0, -1):
                words = f"`{_text(value)}[{other}]` in place of `{_text(value)}[1]`"
                yield words, _expression(f"({_text(value)})[{other}]")
        case ast.Constant(0):
            last = ast.UnaryOp(ast.USub(), ast.Constant(1))
            yield f"the last of `{_text(value)}`, not the first", ast.Subscript(value, last, ast.Load())
        case ast.UnaryOp(ast.USub(), ast.Constant(1)):
            yield (
                f"the first of `{_text(value)}`, not the last",
                ast.Subscript(value, ast.Constant(0), ast.Load()),
            )


def _attribute(value: ast.expr, name: str) -> ast.Attribute:
    return ast.Attribute(value, name, ast.Load())


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _text(node: ast.AST) -> str:
    return ast.unparse(node)
