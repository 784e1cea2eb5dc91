"""What a user may lean on: the names, how quickly they come, and nothing heavy before it is needed."""

import ast
import inspect
import json
import subprocess
import sys
from dataclasses import is_dataclass
from typing import get_args, get_type_hints, is_typeddict

import pytest

import regard

HEAVY = {
    "torch",
    "lightning",
    "matplotlib",
    "tokenizers",
    "sacrebleu",
    "babel",
    "numpy",
    "tensorboard",
    "rich",
}


def loaded_by(code):
    """The heavy packages that are in memory after some code, in a fresh interpreter."""
    script = f"import json, sys\n{code}\nprint(json.dumps(sorted({HEAVY!r} & sys.modules.keys())))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


NAMES = {
    *("Captioner", "Classifier", "LanguageModel", "Tagger", "Translator"),
    *("Caption", "Classification", "Reading", "Sample", "Scored", "SearchTree", "Tagging", "TextScore"),
    *("Translation", "WhatIf", "Evaluation", "TrainedRun", "train", "evaluate", "RegardError", "__version__"),
}
"""What users start from; everything their signatures need is exported too."""

BLOCKS = ("regard.layers.", "regard.models.", "regard.batches.", "regard.search.")
"""Packages of building blocks, public by themselves."""


def checking_names(module):
    """What a module imports for type checkers alone."""
    names = {}
    for node in ast.parse(inspect.getsource(sys.modules[module])).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            exec(compile(ast.Module(node.body, []), module, "exec"), names)
    return names


def annotations(public):
    """Where → annotations, of a function, or of a class's fields and public methods, inherited ones too."""
    if inspect.isfunction(public):
        yield public.__name__, get_type_hints(public, localns=checking_names(public.__module__))
        return
    for base in public.__mro__ if inspect.isclass(public) else ():
        if not base.__module__.startswith("regard."):
            continue
        local = checking_names(base.__module__)
        if is_dataclass(base):
            yield base.__name__, get_type_hints(base, localns=local)
        for name, member in vars(base).items():
            function = getattr(member, "__func__", None) or getattr(member, "fget", None) or member
            if inspect.isfunction(function) and (name == "__init__" or not name.startswith("_")):
                yield f"{base.__name__}.{name}", get_type_hints(function, localns=local)


def classes(annotation):
    """The classes an annotation is made of."""
    if isinstance(annotation, list):
        for part in annotation:
            yield from classes(part)
    elif isinstance(annotation, type):
        yield annotation
    for part in get_args(annotation):
        yield from classes(part)


def test_every_type_in_a_public_signature_is_exported():
    exported = {id(getattr(regard, name)) for name in regard.__all__}
    missing = {
        f"{each.__module__}.{each.__qualname__}: {where}"
        for name in regard.__all__
        for where, hints in annotations(getattr(regard, name))
        for hint in hints.values()
        for each in classes(hint)
        if each.__module__.startswith("regard.") and not each.__module__.startswith(BLOCKS)
        if not is_typeddict(each) and id(each) not in exported
    }
    assert not missing, "add to regard.__all__:\n" + "\n".join(sorted(missing))


def test_the_names():
    assert set(regard.__all__) > NAMES
    assert list(regard.__all__) == sorted(set(regard.__all__))
    assert dir(regard) == regard.__all__


def test_type_checkers_see_the_same_names():
    [block] = [
        node
        for node in ast.parse(inspect.getsource(regard)).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    seen = {(each.module, alias.name) for each in block.body for alias in each.names}
    assert seen == {(module, name) for name, module in regard._HOMES.items()}


@pytest.mark.parametrize("name", regard.__all__)
def test_each_name_is_there(name):
    value = getattr(regard, name)
    assert value is getattr(regard, name)
    if name != "__version__":
        assert value.__name__ == name
        assert value.__doc__
        assert value.__module__.startswith("regard.")


def test_no_other_name():
    with pytest.raises(AttributeError, match="module 'regard' has no attribute 'transalte'"):
        regard.transalte  # noqa: B018


def test_import_regard_is_fast():
    assert loaded_by("import regard; regard.RegardError; regard.__version__; dir(regard)") == []


def test_help_waits_for_no_tensors():
    assert "torch" not in loaded_by("import regard.cli.app")


def test_translating_needs_neither_training_nor_drawing():
    assert not {"lightning", "matplotlib", "sacrebleu", "tensorboard"} & set(
        loaded_by("import regard; regard.Translator")
    )
