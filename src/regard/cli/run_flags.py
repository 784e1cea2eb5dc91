"""The flags of a training, which ``train`` and ``tune`` share, and the configuration that they are.

In: what was typed. Out: nested tables of options, as a configuration file has them. Knows neither command.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.options import (
    DEVICE_HELP,
    ColumnPair,
    Features,
    TokenizerKind,
    ValidFiles,
    Vertical,
    VocabularySize,
)
from regard.config import set_option
from regard.errors import ConfigError
from regard.tasks import TASKS


@dataclass(frozen=True)
class RunFlags:
    """What configures a training: the flags that ``train`` and ``tune`` share.

    Their help is in the annotations. `to_mapping` lays them over each other as a configuration.
    """

    train_files: Annotated[
        list[Path] | None,
        typer.Option(
            "--train",
            help="The training data: one file; give it twice for two parallel files, such as source and target.",
        ),
    ] = None
    valid_files: ValidFiles = None
    task: Annotated[
        str | None,
        typer.Option(
            help=f"The task: {', '.join(TASKS)}; by default the preset's, or what the training file says.",
            is_eager=True,
        ),
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(help=r"A TOML file of options: tables \[data], \[tokenizer], \[model], \[training], …"),
    ] = None
    preset: Annotated[
        str | None,
        typer.Option(
            help="The preset to start from, instead of a plan; see regard train --list-presets.",
            is_eager=True,
        ),
    ] = None
    tokenizer: TokenizerKind = None
    vocabulary: VocabularySize = None
    columns: ColumnPair = None
    features: Features = None
    vertical: Vertical = False
    updates: Annotated[
        int | None, typer.Option(help="Maximum number of updates of a training; in a search, of the longest.")
    ] = None
    epochs: Annotated[
        float | None, typer.Option(help="Maximum number of passes over the data, in the same way.")
    ] = None
    budget: Annotated[
        float | None,
        typer.Option(
            help="The minutes of a training: the plan is fitted to them, and training ends with them."
        ),
    ] = None
    device: Annotated[str | None, typer.Option(help=DEVICE_HELP)] = None
    threads: Annotated[
        int | None,
        typer.Option(
            help="Number of threads; by default as the model's size and the machine's load suggest."
        ),
    ] = None
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Set any option: --set model.decoder.attention.energy=dot; see regard train --list-options.",
        ),
    ] = None

    def to_mapping(self, begun: Mapping[str, Any], file: Mapping[str, Any]) -> dict[str, Any]:
        """The flags as nested tables of options, ``--set`` over the others; tables without an option are left out.

        Args:
            begun: the configuration of a run that is resumed; with `file` it says what the task is, where no flag does.
            file: the configuration of ``--config``.

        Raises:
            ConfigError: a flag that belongs to another task, or an option that does not exist.
        """
        flags: dict[str, Any] = {"data": {}, "tokenizer": {}, "training": {}}
        if self.task:
            flags["task"] = self.task
        for name, paths in (("train", self.train_files), ("valid", self.valid_files)):
            if paths:
                flags["data"][name] = [str(path) for path in paths]
        if self.columns:
            flags["data"]["columns"] = list(self.columns)
        if self.features is not None:
            self._belongs_to("translate", f"--features {self.features}", "features beside a text")
            flags["data"]["features"] = self.features
        if self.vertical:
            self._belongs_to("tag", "--vertical", "one word and its tag per line")
            flags |= {"task": "tag"} if self.preset is None else {}
            flags["data"]["layout"] = "vertical"
        if self.updates is not None or self.epochs is not None:
            flags["training"] |= {"max_updates": self.updates or 0, "max_epochs": self.epochs or 0}
        single = {"device": self.device, "threads": self.threads}
        flags["training"] |= {name: value for name, value in single.items() if value is not None}
        for assignment in self.options or []:
            set_option(flags, assignment)
        given = {name: table for name, table in flags.items() if table}
        if self.tokenizer or self.vocabulary is not None:
            from regard.training.configure import recognize

            task = recognize(begun, file, given, preset=self.preset).task
            given["tokenizer"] = tokenizer_options(task, self.tokenizer, self.vocabulary) | given.get(
                "tokenizer", {}
            )
        return given

    def _belongs_to(self, task: str, flag: str, what: str) -> None:
        """Raise where another task is named than the one that a flag belongs to."""
        if self.task not in (None, task):
            purpose = TASKS[task].purpose
            raise ConfigError(f"{flag}: only a model for {purpose} reads {what}; leave it out")


DEFAULT_RUN = RunFlags()


def tokenizer_options(task: str, tokenizer: str | None, vocabulary: int | None) -> dict[str, Any]:
    """``--tokenizer`` and ``--vocabulary`` as options of the task: of two sides, or of one text."""
    sides = TASKS[task].texts
    options: dict[str, Any] = {}
    if tokenizer:
        first, _, second = tokenizer.partition(",")
        if second and len(sides) == 1:
            raise ConfigError(
                f"--tokenizer {tokenizer}: the task {task!r} has one tokenizer; give {first} or {second}"
            )
        options |= dict(zip(sides, (first, second or first), strict=False))
    if vocabulary is not None:
        options |= {f"{side}_size": vocabulary for side in sides}
    return options
