"""The README's own commands, run.

What a README must keep to:

- A fenced block opened with ```sh holds commands. Lines of other commands than `regard` and `make` must begin with one
  of `git`, `cd`, `python`, `python3`, `pip`; they are passed over. A comment begins with ` #`; a backslash at
  the end of a line continues it.
- ``regard …`` is run here, in this process and at toy size: what is typed stays as it is, but models have a few
  units and learn for two updates, a demo has forty pairs, and every file or model folder that a command names is
  made beforehand under that very name; experiments of the lab are asked for, and find nothing. `echo … |` and
  `cat … |` before it, `< file` and `> file` are heeded; what stands behind a later `|` is not run. A command must
  end with status 0.
- ``make target`` must name a target of the Makefile, and `demo` and `test` must do what their names say.
- A fenced block opened with ```python is run likewise, with a model folder of every name it loads and does not train.
- Every other fenced block (```text, ```console, ```toml …) is for reading; ```toml is read as a configuration.
- A link or a picture that is not on the web is a file of the repository.
"""

import gzip
import random
import re
import shlex
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import regard.lab.runner.run
import regard.training.run
from regard.cli.app import app
from regard.config import merge
from regard.lab.runner import Finding, Verdict
from regard.lab.runner.run import run_experiment
from regard.layers import is_sized
from regard.tasks.config import RunConfig
from regard.training.run import configure

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PASSED_OVER = ("git", "cd", "python", "python3", "pip")

pytestmark = pytest.mark.journey


def blocks(text, language):
    """The contents of the fenced blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def commands(text):
    """Every command of the ```sh blocks, as words."""
    for block in blocks(text, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>")
            lexer.whitespace_split = True
            if words := list(lexer):
                yield words


def toy_pairs(count=24):
    rng = random.Random(0)
    lines = [" ".join(rng.choices("abcde", k=rng.randint(1, 5))) for _ in range(count)]
    return [(line, line.upper()) for line in lines]


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".npy":
        np.save(path, np.arange(3 * len(lines), dtype=np.float32).reshape(-1, 3))
        return
    text = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def write_pairs(paths, columns=(1, 2)):
    """Toy pairs into two parallel files, or into one with tabs."""
    if len(paths) == 2:
        for path, side in zip(paths, zip(*toy_pairs(), strict=True), strict=True):
            write(path, side)
        return
    rows = [["–"] * max(columns) for _ in toy_pairs()]
    for row, (source, target) in zip(rows, toy_pairs(), strict=True):
        row[columns[0] - 1], row[columns[1] - 1] = source, target
    write(paths[0], ["\t".join(row) for row in rows])


def shrunk(config):
    """The same run with a few units and two updates."""
    plain = config.to_mapping()
    _shrink(plain["model"])
    if config.task == "translate":
        plain["model"]["decoder"]["state_size"] = 8 if plain["model"]["encoder"]["bidirectional"] else 4
    limits = {"max_updates": 2, "max_epochs": 0, "max_minutes": 0, "validate_every": 2, "warmup": 0}
    return RunConfig.from_mapping(merge(plain, {"training": {**limits, "device": "cpu"}}), "run")


def _shrink(table):
    """Four units wherever there are units, in this table and those inside it."""
    has_units = {
        **dict.fromkeys(("embedding_size", "state_size", "readout_size"), True),
        "hidden_size": table.get("hidden_size"),
        "summary_size": table.get("decoder", {}).get("kind") == "cho",
        "pooling_size": table.get("pooling") == "attention",
        "size": "energy" in table and is_sized(table["energy"]),
    }
    for name, value in table.items():
        if isinstance(value, dict):
            _shrink(value)
        elif has_units.get(name):
            table[name] = min(4, value)


def measure_nothing(bench, sizes):
    """A finding without the work."""
    return Finding({"text": bench.text}, Verdict([], "Nothing was measured."))


def run_in_turn(experiments, bench, command, listener):
    """All of them in this process."""
    return [
        run_experiment(each, replace(bench, folder=bench.folder / each.name, jobs=1), command(each.name))
        for each in experiments
    ]


class House:
    """A folder in which the README's commands find what they name."""

    def __init__(self, folder, monkeypatch):
        self.folder = folder
        monkeypatch.chdir(folder)
        real = regard.training.run.run_training
        monkeypatch.setattr(
            regard.training.run,
            "run_training",
            lambda where, config, **options: real(where, shrunk(config), **options),
        )
        find = regard.lab.find_experiment
        monkeypatch.setattr(
            regard.lab, "find_experiment", lambda name: replace(find(name), measure=measure_nothing)
        )
        monkeypatch.setattr(regard.lab.runner.run, "run_all", run_in_turn)

    def model(self, path):
        if not (path / "regard.json").exists():
            regard.train(path, toy_pairs(), config={"tokenizer": {"source": "word", "target": "word"}})

    def prepare(self, verb, given):
        """Make what a command's arguments name."""
        if verb != "train" and "model" in given:
            self.model(given["model"])
        columns = given.get("columns") or (1, 2)
        if verb == "train":
            for name in ("train_files", "valid_files"):
                if given[name]:
                    write_pairs(given[name], columns)
            if given["config"] and not given["config"].exists():
                given["config"].write_text("[training]\nmax_updates = 2\n")
        if verb in ("evaluate", "align"):
            second = given["reference" if verb == "evaluate" else "target"]
            write_pairs([path for path in (given["source"], second) if path and str(path) != "-"], columns)
        if given.get("gold"):
            links = [" ".join(f"{k}-{k}" for k in range(len(source.split()))) for source, _ in toy_pairs()]
            write(given["gold"], links)
        if given.get("dictionary"):
            write(given["dictionary"], ["\t".join(pair) for pair in toy_pairs()])
        if verb == "shortlist":
            write_pairs(given["train"], columns)
        if verb == "average":
            for folder in given["folders"]:
                self.model(folder)
        for file in given.get("files") or []:
            if verb == "translate" and "." not in file and file != "-":
                self.model(Path(file))  # a member of an ensemble
            elif file != "-":
                write(Path(file), [source for source, _ in toy_pairs()])

    def standard_input(self, words):
        """What the words before a pipe would write."""
        if words[0] == "echo":
            return " ".join(words[1:]) + "\n"
        assert words[0] == "cat", f"{words[0]}: only echo and cat may stand before regard"
        return "".join(f"{source}\n" for _ in words[1:] for source, _ in toy_pairs())

    def run(self, words):
        """Run a whole line."""
        text = ""
        if "|" in words and words[0] != "regard":
            place = words.index("|")
            text, words = self.standard_input(words[:place]), words[place + 1 :]
        if words[0] in PASSED_OVER:
            return
        if words[0] == "make":
            check_make(words[1:], (ROOT / "Makefile").read_text(encoding="utf-8"))
            return
        assert words[0] == "regard", f"{' '.join(words)}: neither regard nor make"
        words = words[1 : words.index("|") if "|" in words else None]
        for sign in ("<", ">"):
            if sign in words:
                place = words.index(sign)
                text = self.standard_input(["cat", words[place + 1]]) if sign == "<" else text
                words = [*words[:place], *words[place + 2 :]]
        if (
            words
            and (verb := typer.main.get_command(app).commands.get(words[0]))
            and "--list-presets" not in words
        ):
            self.prepare(words[0], verb.make_context(words[0], words[1:]).params)
        if words[:1] == ["demo"] and "--train-size" not in words:
            words = [*words, "--train-size", "40"]
        ended = CliRunner().invoke(app, words, input=text)
        assert ended.exit_code == 0, f"regard {shlex.join(words)}: {ended.exception!r}\n{ended.stderr}"


def check_make(words, makefile):
    """The targets exist, and those that are promised do what they promise."""
    promises = {"demo": "regard demo $(WORLD)", "test": "-m pytest", "lint": "ruff check", "types": "mypy"}
    targets = [word for word in words if "=" not in word]
    assert targets, "make without a target"
    for target in targets:
        rule = re.search(rf"^{target}:.*\n((?:\t.*\n)*)", makefile, flags=re.MULTILINE)
        assert rule, f"make {target}: no such target in the Makefile"
        assert promises.get(target, "") in rule[1], f"make {target} does not run {promises[target]!r}"
    dataset = re.search(r"^WORLD \?= (\w+)$", makefile, flags=re.MULTILINE)
    assert dataset
    assert dataset[1] == "microworld"


@pytest.fixture
def house(tmp_path, monkeypatch):
    return House(tmp_path, monkeypatch)


readme = pytest.mark.skipif(not README.exists(), reason="there is no README yet")


@readme
def test_every_command_of_the_readme(house):
    text = README.read_text(encoding="utf-8")
    every = list(commands(text))
    assert ["make", "demo"] in every
    assert ["make", "test"] in every
    assert {words[1] for words in every if words[0] == "regard"} | {"demo"} >= {
        *("train", "translate", "evaluate", "align", "show"),
    }
    for words in every:
        house.run(words)


@readme
def test_every_snippet_of_the_readme(house):
    for code in blocks(README.read_text(encoding="utf-8"), "python"):
        made = re.findall(r"""regard\.train\(\s*["']([^"']+)["']""", code)
        for name in re.findall(r"""load\(\s*["']([^"']+)["']""", code):
            if name not in made:
                house.model(Path(name))
        for name in re.findall(r"""["']([\w./-]+\.tsv(?:\.gz)?)["']""", code):
            write_pairs([Path(name)])
        exec(compile(code, "README.md", "exec"), {})


@readme
def test_every_configuration_of_the_readme():
    for text in blocks(README.read_text(encoding="utf-8"), "toml"):
        configure(tomllib.loads(text))


@readme
def test_nothing_is_left_to_be_filled_in():
    assert "@@" not in README.read_text(encoding="utf-8")


@readme
def test_what_the_readme_points_at_is_there():
    text = README.read_text(encoding="utf-8")
    for target in re.findall(r"""\]\(([^)#\s]+)[^)]*\)|(?:src|href)=["']([^"'#]+)""", text):
        path = target[0] or target[1]
        if not re.match(r"https?://|mailto:", path):
            assert (ROOT / path).exists(), path


class TestTheTestItself:
    """A README that lies is caught."""

    good = """
```sh
make demo            # two minutes
regard --version
regard train model --train train.de.gz --train train.en.gz --valid val.de --valid val.en \\
    --preset luong-small --minutes 30
echo "ein kleines haus ." | regard translate model
regard translate model test.de --beam 10 --alignments > test.out
cat test.de | regard translate other --json | head -1
regard evaluate model test.tsv --columns 3 1 --gold test.links
regard align model test.de test.en --heatmaps pictures
```
```text
regard this is only printed
```
"""

    def test_a_good_one(self, house):
        lines = list(commands(self.good))
        assert len(lines) == 8
        assert lines[0] == ["make", "demo"]
        for words in lines:
            house.run(words)
        assert (house.folder / "model" / "best.safetensors").exists()
        assert len(list((house.folder / "pictures").iterdir())) == len(toy_pairs())

    @pytest.mark.parametrize(
        ("line", "complaint"),
        [
            ("regard translate model --beem 3", "No such option"),
            ("regard trasnlate model", "No such command"),
            ("regard translate model test.de --n-best 9", "raise --beam"),
            ("regard train model --preset rnnsearch --train pairs.tsv", "no 'rnnsearch'"),
            ("make supper", "no such target"),
            ("rm -rf model", "neither regard nor make"),
            ("curl x | regard translate model", "only echo and cat"),
        ],
    )
    def test_a_bad_line(self, house, line, complaint):
        (words,) = commands(f"```sh\n{line}\n```\n")
        with pytest.raises(Exception) as caught:  # noqa: PT011 (the parser's own, or an assertion)
            house.run(words)
        assert complaint in getattr(caught.value, "message", str(caught.value))

    def test_a_makefile_that_does_not_keep_its_promise(self):
        makefile = "WORLD ?= microworld\ndemo: x\n\techo done\n"
        with pytest.raises(AssertionError, match="make demo does not run 'regard demo"):
            check_make(["demo"], makefile)
