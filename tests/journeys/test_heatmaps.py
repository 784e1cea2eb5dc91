"""The recipe of examples/heatmaps.py: from the files of a parallel corpus to a figure of the attention."""

import importlib.util
import lzma
import random
from pathlib import Path

import pytest

ADJECTIVES = {"red": "rouge", "blue": "bleu", "green": "vert"}
NOUNS = {"house": "maison", "car": "voiture", "door": "porte", "book": "livre"}


@pytest.fixture(scope="module")
def recipe():
    path = Path(__file__).parents[2] / "examples" / "heatmaps.py"
    spec = importlib.util.spec_from_file_location("heatmaps", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Phrases whose adjective and noun change places; the training files compressed, as real ones are."""
    folder, rng = tmp_path_factory.mktemp("corpus"), random.Random(1)
    for part, count in (("train", 600), ("valid", 20)):
        pairs = []
        for _ in range(count):
            adjective, noun = rng.choice([*ADJECTIVES.items()]), rng.choice([*NOUNS.items()])
            pairs.append((f"The {adjective[0]} {noun[0]}.", f"La {noun[1]} {adjective[1]}."))
        pairs.append(("A line that is far too long " * 9, "une ligne " * 20))
        for side, language in enumerate(("en", "fr")):
            text = "".join(f"{pair[side]}\n" for pair in pairs)
            if part == "train":
                (folder / f"{part}.{language}.xz").write_bytes(lzma.compress(text.encode()))
            else:
                (folder / f"{part}.{language}").write_text(text)
    return folder


def test_words_are_split_as_in_the_papers_figure(recipe):
    assert (
        recipe.split_words("L'Union européenne, le libre-échange.")
        == "l' union européenne , le libre-échange ."
    )


def test_long_lines_and_repeated_pairs_are_left_out(recipe, corpus):
    pairs = recipe.read_corpus(corpus, "train", ("en", "fr"), 25)
    assert len(pairs) == len(set(pairs)) == 12
    assert ("the red house .", "la maison rouge .") in pairs


@pytest.mark.journey
def test_a_model_is_trained_and_its_attention_plotted(recipe, corpus, tmp_path, capsys):
    figure, model = tmp_path / "figure.png", tmp_path / "model"
    arguments = ["--data", str(corpus), "--model", str(model), "--figure", str(figure), "--units", "24"]
    arguments += [
        "--minutes",
        "0.15",
        "--set",
        "training.learning_rate=0.01",
        "--set",
        "training.batch_sentences=4",
    ]
    arguments += ["--sentence", "The red house.", "--sentence", "The blue door."]
    recipe.main(arguments)
    printed = capsys.readouterr().out.splitlines()
    assert printed == ["la maison rouge .", "la porte bleu .", f"wrote {figure}"]
    assert figure.read_bytes().startswith(b"\x89PNG")
    # the model that is there is used as it is
    weights = (model / "best.safetensors").read_bytes()
    recipe.main(arguments)
    assert (model / "best.safetensors").read_bytes() == weights


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--valid", "dev"], r"dev.en: no such file, nor with .xz, .gz, .bz2; name the corpus with --data"),
        (["--target", "de"], r"train.de: no such file"),
    ],
)
def test_a_missing_file_is_named_with_its_remedy(recipe, corpus, tmp_path, change, message):
    with pytest.raises(SystemExit, match=message):
        recipe.main(["--data", str(corpus), "--model", str(tmp_path / "model"), *change])


def test_sides_of_different_length_are_refused(recipe, tmp_path):
    (tmp_path / "train.en").write_text("a\nb\n")
    (tmp_path / "train.fr").write_text("a\n")
    with pytest.raises(SystemExit, match="2 lines of en and 1 of fr; line i of one must be the translation"):
        recipe.main(["--data", str(tmp_path), "--model", str(tmp_path / "model")])
