"""Runs the commands of the README.

The rules for a README:

- A fenced block ```sh holds commands. Lines with commands other than `regard` and `make` must begin with `git`, `cd`,
  `python`, `python3` or `pip`; they are skipped. A comment begins with ` #`; a backslash at the end of a line continues
  it.
- ``regard …`` is run in this process and at toy size: the arguments stay, but models have a few units and two updates,
  a demo has forty pairs, and every file or model folder that a command names is created before under that name;
  experiments of the lab return an empty finding. `echo … |` and `cat … |` before the command, `< file` and `> file` are
  supported; what follows a later `|` is not run. A command must end with status 0.
- ``make target`` must name a target of the Makefile, and `demo` and `test` must run what their names say.
- A fenced block ```python is run too, with a model folder of every name that it loads and does not train.
- Other fenced blocks (```text, ```console, …) are not run; ```toml is read as a configuration.
- A link or an image that is not on the web is a file of the repository.
- No blank line divides a table.
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
from regard.training.configure import configure

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
SKIPPED = ("git", "cd", "python", "python3", "pip")

pytestmark = pytest.mark.journey


def blocks(text, language):
    """The contents of the fenced blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def commands(text):
    """Every command of the ```sh blocks, split into words."""
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
    """Write toy pairs into two parallel files, or into one file with tabs."""
    if len(paths) == 2:
        for path, side in zip(paths, zip(*toy_pairs(), strict=True), strict=True):
            write(path, side)
        return
    columns = [int(column) for column in columns]
    rows = [["–"] * max(columns) for _ in toy_pairs()]
    for row, (source, target) in zip(rows, toy_pairs(), strict=True):
        row[columns[0] - 1], row[columns[1] - 1] = source, target
    write(paths[0], ["\t".join(row) for row in rows])


def shrink(config):
    """The same run with a few units and two updates."""
    mapping = config.to_mapping()
    _shrink_sizes(mapping["model"])
    if config.task == "translate":
        mapping["model"]["decoder"]["state_size"] = 8 if mapping["model"]["encoder"]["bidirectional"] else 4
    limits = {"max_updates": 2, "max_epochs": 0, "max_minutes": 0, "validate_every": 2, "warmup": 0}
    return RunConfig.from_mapping(merge(mapping, {"training": {**limits, "device": "cpu"}}), "run")


def _shrink_sizes(table):
    """Reduce every size to four units, in this table and those inside it."""
    has_units = {
        **dict.fromkeys(("embedding_size", "state_size", "readout_size"), True),
        "hidden_size": table.get("hidden_size"),
        "summary_size": table.get("decoder", {}).get("kind") == "cho",
        "pooling_size": table.get("pooling") == "attention",
        "size": "energy" in table and is_sized(table["energy"]),
    }
    for name, value in table.items():
        if isinstance(value, dict):
            _shrink_sizes(value)
        elif has_units.get(name):
            table[name] = min(4, value)


def measure_nothing(bench, sizes):
    """A finding without the work."""
    return Finding({"text": bench.text}, Verdict([], "Nothing was measured."))


def run_sequentially(experiments, bench, command, listener, *, seed=None):
    """Run all experiments in this process."""
    return [
        run_experiment(
            experiment,
            replace(bench, folder=bench.folder / experiment.name, jobs=1),
            command(experiment.name),
        )
        for experiment in experiments
    ]


class Sandbox:
    """A folder with every file and model that the README's commands name."""

    def __init__(self, folder, monkeypatch):
        self.folder = folder
        monkeypatch.chdir(folder)
        run_training = regard.training.run.run_training
        monkeypatch.setattr(
            regard.training.run,
            "run_training",
            lambda where, config, **options: run_training(where, shrink(config), **options),
        )
        find_experiment = regard.lab.find_experiment
        monkeypatch.setattr(
            regard.lab,
            "find_experiment",
            lambda name: replace(find_experiment(name), measure=measure_nothing),
        )
        monkeypatch.setattr(regard.lab.runner.run, "run_all", run_sequentially)

    def model(self, path):
        if not (path / "regard.json").exists():
            regard.train(path, toy_pairs(), config={"tokenizer": {"source": "word", "target": "word"}})

    def prepare(self, command, arguments):
        """Create the files and models that a command's arguments name."""
        if command not in ("train", "tune") and "model" in arguments:
            self.model(arguments["model"])
        if command == "compare":
            for name in ("first", "second"):
                self.model(arguments[name])
        columns = arguments.get("columns") or (1, 2)
        if command in ("train", "tune"):
            for name in ("train_files", "valid_files"):
                if arguments[name] and arguments["task"] == "language_model":
                    write(arguments[name][0], [source for source, _ in toy_pairs()])
                elif arguments[name]:
                    write_pairs(arguments[name], columns)
            if arguments["config"] and not arguments["config"].exists():
                arguments["config"].write_text("[training]\nmax_updates = 2\n")
        if command in ("evaluate", "compare", "align"):
            second = arguments["target" if command == "align" else "reference"]
            write_pairs(
                [path for path in (arguments["source"], second) if path and str(path) != "-"], columns
            )
        if arguments.get("gold"):
            links = [" ".join(f"{k}-{k}" for k in range(len(source.split()))) for source, _ in toy_pairs()]
            write(arguments["gold"], links)
        if arguments.get("dictionary"):
            write(arguments["dictionary"], ["\t".join(pair) for pair in toy_pairs()])
        if command == "shortlist":
            write_pairs(arguments["train"], columns)
        if command == "average":
            for folder in arguments["folders"]:
                self.model(folder)
        for file in arguments.get("files") or []:
            if command == "translate" and "." not in file and file != "-":
                self.model(Path(file))  # a member of an ensemble
            elif file != "-":
                # in a toy of labelled texts the sources are the labels
                side = 1 if command == "classify" else 0
                write(Path(file), [pair[side] for pair in toy_pairs()])

    def standard_input(self, words):
        """The output of the words before a pipe."""
        if words[0] == "echo":
            return " ".join(words[1:]) + "\n"
        assert words[0] == "cat", f"{words[0]}: only echo and cat may precede regard"
        return "".join(f"{source}\n" for _ in words[1:] for source, _ in toy_pairs())

    def run(self, words):
        """Run one line."""
        text = ""
        if "|" in words and words[0] != "regard":
            place = words.index("|")
            text, words = self.standard_input(words[:place]), words[place + 1 :]
        if words[0] in SKIPPED:
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
            and (command := typer.main.get_command(app).commands.get(words[0]))
            and "--list-presets" not in words
        ):
            self.prepare(words[0], command.make_context(words[0], words[1:]).params)
        if words[:1] == ["demo"] and "--train-size" not in words:
            words = [*words, "--train-size", "40"]
        result = CliRunner().invoke(app, words, input=text)
        assert result.exit_code == 0, f"regard {shlex.join(words)}: {result.exception!r}\n{result.stderr}"


def check_make(words, makefile):
    """The targets exist, and those of the table run the command that they should."""
    expected = {"demo": "regard demo $(DATASET)", "test": "-m pytest", "lint": "ruff check", "types": "mypy"}
    targets = [word for word in words if "=" not in word]
    assert targets, "make without a target"
    for target in targets:
        rule = re.search(rf"^{target}:.*\n((?:\t.*\n)*)", makefile, flags=re.MULTILINE)
        assert rule, f"make {target}: no such target in the Makefile"
        assert expected.get(target, "") in rule[1], f"make {target} does not run {expected[target]!r}"
    dataset = re.search(r"^DATASET \?= (\w+)$", makefile, flags=re.MULTILINE)
    assert dataset
    assert dataset[1] == "microworld"


@pytest.fixture
def sandbox(tmp_path, monkeypatch):
    return Sandbox(tmp_path, monkeypatch)


readme = pytest.mark.skipif(not README.exists(), reason="there is no README yet")


@readme
def test_every_command_of_the_readme(sandbox):
    text = README.read_text(encoding="utf-8")
    every = list(commands(text))
    assert ["make", "demo"] in every
    assert ["make", "test"] in every
    assert {words[1] for words in every if words[0] == "regard"} | {"demo"} >= {
        *("train", "translate", "evaluate", "align", "show"),
    }
    for words in every:
        sandbox.run(words)


@readme
def test_every_snippet_of_the_readme(sandbox):
    for code in blocks(README.read_text(encoding="utf-8"), "python"):
        trained = re.findall(r"""regard\.train\(\s*["']([^"']+)["']""", code)
        for name in re.findall(r"""load\(\s*["']([^"']+)["']""", code):
            if name not in trained:
                sandbox.model(Path(name))
        for name in re.findall(r"""["']([\w./-]+\.tsv(?:\.gz)?)["']""", code):
            write_pairs([Path(name)])
        exec(compile(code, "README.md", "exec"), {})


@readme
def test_every_configuration_of_the_readme():
    for text in blocks(README.read_text(encoding="utf-8"), "toml"):
        configure(tomllib.loads(text))


@readme
def test_no_placeholder_is_left():
    assert "@@" not in README.read_text(encoding="utf-8")


@readme
def test_every_link_of_the_readme_exists():
    text = README.read_text(encoding="utf-8")
    for target in re.findall(r"""\]\(([^)#\s]+)[^)]*\)|(?:src|href)=["']([^"'#]+)""", text):
        path = target[0] or target[1]
        if not re.match(r"https?://|mailto:", path):
            assert (ROOT / path).exists(), path


@readme
def test_every_table_of_the_readme_is_whole():
    """Every line that begins with a bar belongs to a table with a heading and a rule; a blank line would cut it."""
    lines = ["", *README.read_text(encoding="utf-8").splitlines()]
    starts = [k for k, line in enumerate(lines) if line.startswith("|") and not lines[k - 1].startswith("|")]
    assert starts
    for k in starts:
        assert re.fullmatch(r"\|(:?-+:?\|)+", lines[k + 1].replace(" ", "")), f"no heading above: {lines[k]}"


class TestTheTestItself:
    """A README with an error fails."""

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
regard align model test.de test.en --heatmaps heatmaps
```
```text
regard this is only printed
```
"""

    def test_a_correct_readme_passes(self, sandbox):
        lines = list(commands(self.good))
        assert len(lines) == 8
        assert lines[0] == ["make", "demo"]
        for words in lines:
            sandbox.run(words)
        assert (sandbox.folder / "model" / "best.safetensors").exists()
        assert len(list((sandbox.folder / "heatmaps").iterdir())) == len(toy_pairs())

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("regard translate model --beem 3", "No such option"),
            ("regard trasnlate model", "No such command"),
            ("regard translate model test.de --n-best 9", "raise --beam"),
            ("regard train model --preset rnnsearch --train pairs.tsv", "no 'rnnsearch'"),
            ("make dinner", "no such target"),
            ("rm -rf model", "neither regard nor make"),
            ("curl x | regard translate model", "only echo and cat"),
        ],
    )
    def test_a_wrong_line_fails(self, sandbox, line, message):
        (words,) = commands(f"```sh\n{line}\n```\n")
        with pytest.raises(Exception) as caught:  # noqa: PT011 (the parser's own, or an assertion)
            sandbox.run(words)
        assert message in getattr(caught.value, "message", str(caught.value))

    def test_a_makefile_whose_target_does_something_else_fails(self):
        makefile = "DATASET ?= microworld\ndemo: x\n\techo done\n"
        with pytest.raises(AssertionError, match="make demo does not run 'regard demo"):
            check_make(["demo"], makefile)
