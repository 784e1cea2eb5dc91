"""What the rest of the package knows of a task: names and words at once, code when it is called for.

A task's folder defines one `TaskSpec` in its ``__init__.py``. Reading its attributes imports neither torch nor the
task's own modules, so that ``regard --help`` can list every task; each method imports what it returns.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, get_type_hints

if TYPE_CHECKING:
    from regard.config import Config
    from regard.models import Model
    from regard.tasks.base import Task
    from regard.tasks.config import RunConfig

Preset = dict[str, Any]
"""A run's configuration as a TOML file would have it, every number in sight."""


class TaskSpec(ABC):
    """One task: its words, its configuration, its model, its data, and the object that uses a trained model."""

    name: ClassVar[str]
    """As ``--task`` takes it, and as ``regard.json`` has it."""
    purpose: ClassVar[str]
    """What a model of this task is for, after "a model for"."""
    example: ClassVar[str]
    """One training example as `regard.train` takes it, in Python."""
    texts: ClassVar[tuple[str, ...]] = ("text",)
    """The names of its tokenizers, in the order of ``--tokenizer``."""
    default_preset: ClassVar[str]
    """The preset where none is named."""
    commands: ClassVar[Mapping[str, str]] = {}
    """Its commands: name → ``module:function``."""
    first_command: ClassVar[str] = "regard show {folder}"
    """What to type first with a trained model."""
    evaluation: ClassVar[str] = ""
    """What ``regard evaluate`` calls with its arguments: ``module:function``; empty where it scores no such model."""
    evaluation_options: ClassVar[frozenset[str]] = frozenset()
    """The options of ``regard evaluate`` that this task reads, beside those that every task reads."""
    demo_files: ClassVar[str] = ""
    """What writes generated examples as training files, for `write_examples`: ``module:function``."""
    demo: ClassVar[str] = ""
    """What tests and shows a trained demonstration, for `show_demo`: ``module:function``."""

    @abstractmethod
    def run_config(self) -> "type[RunConfig]":
        """The configuration of a whole run."""

    def model_config(self) -> "type[Config]":
        """The configuration of its model: the type of the field ``model`` of `run_config`."""
        hint: type[Config] = get_type_hints(self.run_config())["model"]
        return hint

    @abstractmethod
    def build(self, config: Any, sizes: Mapping[str, int]) -> "Model":
        """Make a model, its weights sampled from torch's generator.

        Args:
            config: of `model_config`.
            sizes: of vocabularies, labels and features, by name.
        """

    @abstractmethod
    def task(self, config: Any, train: Any, valid: Any) -> "Task":
        """Read and prepare the data of a run.

        Args:
            config: of `run_config`.
            train: the training examples; None reads the files of ``config.data``.
            valid: the validation examples; None reads the files of ``config.data``, or splits some off.

        Raises:
            RegardError: the data or the configuration cannot be used.
        """

    @abstractmethod
    def predictor(self) -> type[Any]:
        """The class through which a trained model is used."""

    @abstractmethod
    def presets(self) -> Mapping[str, Callable[[], Preset]]:
        """Its named starting points."""

    def evaluate(self, arguments: Any) -> None:
        """Score a model on a test set, print the scores, and write what is to be written."""
        resolve_name(self.evaluation)(arguments)

    def write_examples(self, stem: Path, examples: Sequence[Any]) -> list[str]:
        """Write generated examples; return the files as ``data.train`` names them.

        Args:
            stem: the files' path without suffix.
            examples: of `regard.datasets`.
        """
        files: list[str] = resolve_name(self.demo_files)(stem, examples)
        return files

    def show_demo(self, trained: Any, json: bool) -> None:
        """Test a model that ``regard demo`` trained, and show it at work.

        Args:
            trained: the dataset, its splits, the folder and the report.
            json: print the report as JSON and nothing else.
        """
        resolve_name(self.demo)(trained, json)
