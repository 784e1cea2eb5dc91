"""What to tell each peer so that it searches with the model it trained: its command, and the call that is the search.

In: a setting, a demand, folders. Out: a `Search`. A peer's own options force every output to the setting's number of
words where it has them; where it has none, one of `patches` does. The call that is timed begins with a padded batch of
ids and ends with its hypotheses: the encoder is part of it, reading and writing text are not.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.demands import Demand
from benchmarks.peers.commands import Command
from benchmarks.settings import Setting

LOG = "searched.log"
"""What a command says while it searches, in its own folder."""


@dataclass(frozen=True)
class Search:
    """How a toolkit searches.

    Attributes:
        command: its command line; what it has to prepare first is done once.
        timed: the function that searches a batch.
        output: the file where translations are then found, a line each.
        marked: what a line begins with that is a translation.
        column: which part of such a line, parted by tabs.
    """

    command: Command
    timed: str
    output: Path
    marked: str = ""
    column: int = 0

    def outputs(self) -> list[str]:
        """The translations it put out, in whatever order."""
        lines = self.output.read_text(encoding="utf-8").splitlines()
        return [line.split("\t")[self.column].strip() for line in lines if line.startswith(self.marked)]


def _flags(options: dict[str, Any]) -> list[str]:
    return [part for name, value in options.items() for part in (f"--{name}", str(value))]


def fairseq(setting: Setting, demand: Demand, data: Path, work: Path) -> Search:
    """Prints translations among its other words; reads its own binary form of the sentences."""
    patches, languages = ["dataclass_defaults", "whole_checkpoints"], ["-s", "source", "-t", "target"]
    words, binary = work / "binary", work / f"binary-{demand.part}"
    told: dict[str, Any] = {
        "srcdict": words / "dict.source.txt",
        "tgtdict": words / "dict.target.txt",
        "testpref": data / demand.part,
        "destdir": binary,
        "workers": 1,
    }
    prepare = Command("fairseq_cli.preprocess:cli_main", [*languages, *_flags(told)], patches)
    options: dict[str, Any] = {
        "task": "translation",
        "path": work / "model" / "checkpoint_last.pt",
        "beam": demand.beam,
        "batch-size": demand.batch,
        "max-len-a": 0,
        "max-len-b": setting.output_words,
        "min-len": setting.output_words,
        "num-workers": 0,
    }
    arguments = [str(binary), *languages, "--cpu", *_flags(options)]
    command = Command("fairseq_cli.generate:cli_main", arguments, patches, prepare)
    return Search(command, "fairseq.sequence_generator:SequenceGenerator.generate", work / LOG, "H-", 2)


def _told(setting: Setting, demand: Demand, data: Path, output: Path) -> list[str]:
    """What OpenNMT-py and its successor eole are told in the same words."""
    options: dict[str, Any] = {
        "src": data / f"{demand.part}.source",
        "output": output,
        "beam_size": demand.beam,
        "batch_size": demand.batch,
        "batch_type": "sents",
        "min_length": setting.output_words,
        "max_length": setting.output_words,
        "max_length_ratio": 0,
    }
    return [part for name, value in options.items() for part in (f"-{name}", str(value))]


def opennmt_py(setting: Setting, demand: Demand, data: Path, work: Path) -> Search:
    """Names its checkpoint after its last update."""
    model = max(work.glob("model_step_*.pt"), default=work / "model_step.pt")
    arguments = ["-model", str(model), *_told(setting, demand, data, work / "output.txt")]
    command = Command("onmt.bin.translate:main", arguments, ["whole_checkpoints"])
    return Search(command, "onmt.translate.translator:Translator.translate_batch", work / "output.txt")


def eole(setting: Setting, demand: Demand, data: Path, work: Path) -> Search:
    """On a CPU with no other processes."""
    told = _told(setting, demand, data, work / "output.txt")
    arguments = ["predict", "-model_path", str(work / "model"), *told, "-world_size", "0"]
    command = Command("eole.bin.main:main", arguments)
    return Search(command, "eole.predict.translator:Translator.predict_batch", work / "output.txt")


def joeynmt(setting: Setting, demand: Demand, data: Path, work: Path) -> Search:
    """Is told in the training's configuration; its end mark is kept off by a patch."""
    config = json.loads((work / "train.yaml").read_text())
    config["data"]["test"] = str(data / demand.part)
    del config["data"]["dev"]
    config["testing"] |= {
        "load_model": str(work / "model" / "latest.ckpt"),
        "n_best": 1,
        "beam_size": demand.beam,
        "beam_alpha": 0,
        "batch_size": demand.batch,
        "max_output_length": setting.output_words,
    }
    path = work / "search.yaml"
    path.write_text(json.dumps(config, indent=1))
    arguments = ["test", str(path), "-o", str(work / "output")]
    command = Command("joeynmt", arguments, ["joeynmt_full_length"])
    return Search(command, "joeynmt.prediction:search", work / "output.test")


def yoyodyne(setting: Setting, demand: Demand, data: Path, work: Path) -> Search:
    """Is told in the training's configuration; its end mark is kept off by a patch."""
    config = json.loads((work / "train.yaml").read_text())
    for part in ("train", "val"):
        del config["data"][part]
    config["data"] |= {
        "predict": str(data / f"{demand.part}.source"),
        "target_col": 0,
        "batch_size": demand.batch,
        "max_target_length": setting.output_words,
    }
    config["model"]["init_args"]["beam_width"] = demand.beam
    config["prediction"] = {"path": str(work / "output.txt")}
    path = work / "search.yaml"
    path.write_text(json.dumps(config, indent=1))
    checkpoint = max((work / "model").glob("*.ckpt"), default=work / "model" / "last.ckpt")
    arguments = ["predict", "--config", str(path), "--ckpt_path", str(checkpoint)]
    command = Command("yoyodyne.cli.main:main", arguments, ["yoyodyne_full_length"])
    return Search(command, "yoyodyne.models.base:BaseModel.predict_step", work / "output.txt")


SEARCHES: dict[str, Callable[[Setting, Demand, Path, Path], Search]] = {
    "fairseq": fairseq,
    "eole": eole,
    "opennmt-py": opennmt_py,
    "joeynmt": joeynmt,
    "yoyodyne": yoyodyne,
}
"""By the name of the virtual environment, less ``venv-``: (setting, demand, corpus, its own folder) → search."""
