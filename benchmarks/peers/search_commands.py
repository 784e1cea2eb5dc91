"""The command with which each peer searches with the model it trained, and the function that is its search.

In: a setting, a search case, folders. Out: a `Search`. The peer's own options force every output to the setting's
number of words; where it has none, one of `patches` does. The timed call starts from a padded batch of ids and ends
with its hypotheses: it includes the encoder, and excludes reading and writing text.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers.commands import Command, flags
from benchmarks.search_cases import SearchCase
from benchmarks.settings import Setting

LOG = "searched.log"
"""The output of a command while it searches, in its working folder."""


@dataclass(frozen=True)
class Search:
    """How a toolkit searches.

    Attributes:
        command: its command line.
        timed: the function that searches a batch.
        output: the file of translations, one per line.
        prefix: of the lines that are translations.
        column: of the translation in such a line, separated by tabs.
    """

    command: Command
    timed: str
    output: Path
    prefix: str = ""
    column: int = 0

    def outputs(self) -> list[str]:
        """The translations, in the order of the file."""
        lines = self.output.read_text(encoding="utf-8").splitlines()
        return [line.split("\t")[self.column].strip() for line in lines if line.startswith(self.prefix)]


def fairseq(setting: Setting, case: SearchCase, data: Path, work: Path) -> Search:
    """Prints translations in its log; reads its own binary form of the sentences."""
    patches, languages = ["dataclass_defaults", "whole_checkpoints"], ["-s", "source", "-t", "target"]
    words, binary = work / "binary", work / f"binary-{case.file_stem}"
    preprocessing: dict[str, Any] = {
        "srcdict": words / "dict.source.txt",
        "tgtdict": words / "dict.target.txt",
        "testpref": data / case.file_stem,
        "destdir": binary,
        "workers": 1,
    }
    prepare = Command("fairseq_cli.preprocess:cli_main", [*languages, *flags(preprocessing)], patches)
    options: dict[str, Any] = {
        "task": "translation",
        "path": work / "model" / "checkpoint_last.pt",
        "beam": case.beam,
        "batch-size": case.batch,
        "max-len-a": 0,
        "max-len-b": setting.output_words,
        "min-len": setting.output_words,
        "num-workers": 0,
    }
    arguments = [str(binary), *languages, "--cpu", *flags(options)]
    command = Command("fairseq_cli.generate:cli_main", arguments, patches, prepare)
    return Search(command, "fairseq.sequence_generator:SequenceGenerator.generate", work / LOG, "H-", 2)


def _common_options(setting: Setting, case: SearchCase, data: Path, output: Path) -> list[str]:
    """The options that OpenNMT-py and its successor eole have in common."""
    options: dict[str, Any] = {
        "src": data / f"{case.file_stem}.source",
        "output": output,
        "beam_size": case.beam,
        "batch_size": case.batch,
        "batch_type": "sents",
        "min_length": setting.output_words,
        "max_length": setting.output_words,
        "max_length_ratio": 0,
    }
    return [part for name, value in options.items() for part in (f"-{name}", str(value))]


def opennmt_py(setting: Setting, case: SearchCase, data: Path, work: Path) -> Search:
    """The name of its checkpoint contains the number of the last update."""
    model = max(work.glob("model_step_*.pt"), default=work / "model_step.pt")
    arguments = ["-model", str(model), *_common_options(setting, case, data, work / "output.txt")]
    command = Command("onmt.bin.translate:main", arguments, ["whole_checkpoints"])
    return Search(command, "onmt.translate.translator:Translator.translate_batch", work / "output.txt")


def eole(setting: Setting, case: SearchCase, data: Path, work: Path) -> Search:
    """On the CPU, in one process."""
    options = _common_options(setting, case, data, work / "output.txt")
    arguments = ["predict", "-model_path", str(work / "model"), *options, "-world_size", "0"]
    command = Command("eole.bin.main:main", arguments)
    return Search(command, "eole.predict.translator:Translator.predict_batch", work / "output.txt")


def joeynmt(setting: Setting, case: SearchCase, data: Path, work: Path) -> Search:
    """Reads the configuration of training; a patch prevents the end symbol."""
    config = json.loads((work / "train.yaml").read_text())
    config["data"]["test"] = str(data / case.file_stem)
    del config["data"]["dev"]
    config["testing"] |= {
        "load_model": str(work / "model" / "latest.ckpt"),
        "n_best": 1,
        "beam_size": case.beam,
        "beam_alpha": 0,
        "batch_size": case.batch,
        "max_output_length": setting.output_words,
    }
    path = work / "search.yaml"
    path.write_text(json.dumps(config, indent=1))
    arguments = ["test", str(path), "-o", str(work / "output")]
    command = Command("joeynmt", arguments, ["joeynmt_full_length"])
    return Search(command, "joeynmt.prediction:search", work / "output.test")


def yoyodyne(setting: Setting, case: SearchCase, data: Path, work: Path) -> Search:
    """Reads the configuration of training; a patch prevents the end symbol."""
    config = json.loads((work / "train.yaml").read_text())
    for part in ("train", "val"):
        del config["data"][part]
    config["data"] |= {
        "predict": str(data / f"{case.file_stem}.source"),
        "target_col": 0,
        "batch_size": case.batch,
        "max_target_length": setting.output_words,
    }
    config["model"]["init_args"]["beam_width"] = case.beam
    config["prediction"] = {"path": str(work / "output.txt")}
    path = work / "search.yaml"
    path.write_text(json.dumps(config, indent=1))
    checkpoint = max((work / "model").glob("*.ckpt"), default=work / "model" / "last.ckpt")
    arguments = ["predict", "--config", str(path), "--ckpt_path", str(checkpoint)]
    command = Command("yoyodyne.cli.main:main", arguments, ["yoyodyne_full_length"])
    return Search(command, "yoyodyne.models.base:BaseModel.predict_step", work / "output.txt")


SEARCHES: dict[str, Callable[[Setting, SearchCase, Path, Path], Search]] = {
    "fairseq": fairseq,
    "eole": eole,
    "opennmt-py": opennmt_py,
    "joeynmt": joeynmt,
    "yoyodyne": yoyodyne,
}
"""By the name of the virtual environment without ``venv-``: (setting, case, corpus, working folder) → search."""
