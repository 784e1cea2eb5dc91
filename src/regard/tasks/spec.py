"""What the rest of the package knows of a task: names and sentences at once, code when it is called for.

A task's folder defines one `TaskSpec` in its ``__init__.py``. Code is named as ``module:name`` and imported by the
method that needs it, so that ``regard --help`` lists every task without importing torch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, get_type_hints

if TYPE_CHECKING:
    from regard.config import Config
    from regard.models import Model
    from regard.tasks.base import Task, Vocabulary
    from regard.tasks.config import RunConfig
    from regard.tasks.evaluation import DemoRun, DemoView, EvaluationOptions, EvaluationRun
    from regard.tasks.plan import Budget, Plan

Preset = dict[str, Any]
"""A run's configuration as a TOML file would have it, every number in sight."""


@dataclass(frozen=True, kw_only=True)
class TaskSpec:
    """One task.

    Attributes:
        name: as ``--task`` takes it, and as ``regard.json`` has it.
        purpose: what a model of this task is for, after "a model for".
        example: one training example as `regard.train` takes it, in Python.
        texts: the names of its tokenizers, in the order of ``--tokenizer``.
        sizes: the names of the sizes its network is built for, in the network's order.
        default_preset: the preset where none is named.
        config: the class of a run's configuration, ``module:name`` as all that follow.
        network: the class of its models: configuration, sizes → model.
        training: the class of its `Task`.
        prediction: the class of its `Predictor`.
        preset_table: its named presets.
        preparation: the class of its `Preparation`, for ``regard prepare``; empty if it has none.
        planning: a function that plans a run from its data, see `plan_run`; empty if it only has presets.
        commands: its own commands, name → ``module:function``.
        operations: its routes of the service, name → ``module:operation``.
        first_command: what to type first with a trained model.
        evaluation: a module for ``regard evaluate``, with ``evaluate_files``, and for ``regard demo``, with
            ``write_examples``, ``evaluate_examples`` and ``show_demo``: see the methods; empty without one.
        evaluation_options: the options of ``regard evaluate`` that it reads, beside those that every task reads.
    """

    name: str
    purpose: str
    example: str
    default_preset: str
    config: str
    network: str
    sizes: tuple[str, ...]
    training: str
    prediction: str
    preset_table: str
    preparation: str = ""
    planning: str = ""
    texts: tuple[str, ...] = ("text",)
    commands: Mapping[str, str] = field(default_factory=dict)
    operations: Mapping[str, str] = field(default_factory=dict)
    first_command: str = "regard show {folder}"
    evaluation: str = ""
    evaluation_options: frozenset[str] = frozenset()

    def run_config(self) -> "type[RunConfig]":
        """The configuration of a whole run."""
        config: type[RunConfig] = resolve_name(self.config)
        return config

    def model_config(self) -> "type[Config]":
        """The configuration of its model: the type of the field ``model`` of `run_config`."""
        hint: type[Config] = get_type_hints(self.run_config())["model"]
        return hint

    def build(self, config: Any, sizes: Mapping[str, int]) -> "Model":
        """Make a model, its weights sampled from torch's generator.

        Args:
            config: of `model_config`.
            sizes: of vocabularies, labels and features, by name.
        """
        model: Model = resolve_name(self.network)(config, *(sizes[name] for name in self.sizes))
        return model

    def task(self, config: Any, train: Any, valid: Any, known: "Vocabulary | None" = None) -> "Task":
        """Read and prepare the data of a run.

        Args:
            config: of `run_config`.
            train: the training examples; None reads the files of ``config.data``.
            valid: the validation examples; None reads the files of ``config.data``, or splits some off.
            known: the vocabulary of the model that the run starts from; None trains tokenizers.

        Raises:
            RegardError: the data or the configuration cannot be used.
        """
        given = {} if known is None else {"known": known}  # a task need not know how to start from a model
        task: Task = resolve_name(self.training)(config, train, valid, **given)
        return task

    def predictor(self) -> type[Any]:
        """The class through which a trained model is used, a `Predictor`."""
        predictor: type[Any] = resolve_name(self.prediction)
        return predictor

    def preparing(self) -> type[Any]:
        """The class that prepares its data, a `Preparation`."""
        preparation: type[Any] = resolve_name(self.preparation)
        return preparation

    def presets(self) -> Mapping[str, Callable[[], Preset]]:
        """Its named starting points."""
        presets: Mapping[str, Callable[[], Preset]] = resolve_name(self.preset_table)
        return presets

    def plan_run(
        self,
        data: Any,
        train: Sequence[Any] | None,
        valid: Sequence[Any] | None,
        given: Mapping[str, Any],
        budget: "Budget | None" = None,
    ) -> "Plan | None":
        """Plan a run from its data; None where the task has no plan.

        Args:
            data: the table ``data`` of `run_config`.
            train: the training examples; None reads the files of `data`.
            valid: the validation examples; None where the files of `data` have them, or some will be split off.
            given: the options given by hand, which the plan's decisions follow.
            budget: the time there is, if it is limited.

        Raises:
            RegardError: the data cannot be used.
        """
        if not self.planning:
            return None
        plan: Plan = resolve_name(self.planning)(data, train, valid, given, budget)
        return plan

    def evaluate(self, options: "EvaluationOptions") -> "EvaluationRun":
        """Open a model and a test set, ready to be evaluated."""
        run: EvaluationRun = resolve_name(f"{self.evaluation}:evaluate_files")(options)
        return run

    def write_examples(self, stem: Path, examples: Sequence[Any]) -> list[str]:
        """Write generated examples; return the files as ``data.train`` names them.

        Args:
            stem: the files' path without suffix.
            examples: of `regard.datasets`.
        """
        files: list[str] = resolve_name(f"{self.evaluation}:write_examples")(stem, examples)
        return files

    def evaluate_examples(self, predictor: Any, examples: Sequence[Any], demo: "DemoRun") -> "EvaluationRun":
        """A trained model and generated examples, ready to be evaluated."""
        run: EvaluationRun = resolve_name(f"{self.evaluation}:evaluate_examples")(predictor, examples, demo)
        return run

    def show_demo(self, predictor: Any, evaluation: Any, demo: "DemoRun") -> "DemoView":
        """What ``regard demo`` shows of a trained model.

        Args:
            predictor: the model.
            evaluation: the task's own evaluation of the test set.
            demo: the dataset, its splits, the folder and the report of the training.
        """
        view: DemoView = resolve_name(f"{self.evaluation}:show_demo")(predictor, evaluation, demo)
        return view
