"""What a user may lean on: the names, how quickly they come, and nothing heavy before it is needed."""

import json
import subprocess
import sys

import pytest

import regard

NAMES = {
    "Captioner",
    "Classification",
    "Caption",
    "Evaluation",
    "Reading",
    "RegardError",
    "Sample",
    "Scored",
    "SearchTree",
    "Tagging",
    "Classifier",
    "TextScore",
    "Tagger",
    "TrainedRun",
    "Translation",
    "Translator",
    "WhatIf",
    "LanguageModel",
    "__version__",
    "evaluate",
    "train",
}
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


def test_exactly_these_names():
    assert set(regard.__all__) == NAMES
    assert list(regard.__all__) == sorted(regard.__all__)
    assert dir(regard) == sorted(NAMES)


@pytest.mark.parametrize("name", sorted(NAMES))
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


def test_import_regard_is_quick():
    assert loaded_by("import regard; regard.RegardError; regard.__version__; dir(regard)") == []


def test_help_waits_for_no_tensors():
    assert "torch" not in loaded_by("import regard.cli.app")


def test_translating_needs_neither_training_nor_drawing():
    assert not {"lightning", "matplotlib", "sacrebleu", "tensorboard"} & set(
        loaded_by("import regard; regard.Translator")
    )
