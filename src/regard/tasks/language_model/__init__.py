"""Language modelling: lines of text in, a model that predicts each token from those before it out."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from regard.tasks.spec import Preset, TaskSpec

if TYPE_CHECKING:
    from regard.models import LanguageModelConfig, LanguageModelNetwork
    from regard.tasks.language_model.config import LanguageModelRun
    from regard.tasks.language_model.predictor import LanguageModel
    from regard.tasks.language_model.task import LanguageModelTask


class LanguageModelSpec(TaskSpec):
    """The task ``language_model``."""

    name = "language_model"
    purpose = "sampling and scoring text (a language model)"
    example = '("a line",)'
    default_preset = "lstm-lm"
    commands: ClassVar[Mapping[str, str]] = {
        "sample": "regard.cli.sample:sample",
        "score": "regard.cli.score:score",
        "read": "regard.cli.read:read",
    }
    first_command = "regard sample {folder}"
    evaluation = "regard.cli.evaluations.language_model:evaluate_language_model"
    evaluation_options = frozenset({"continuous"})
    demo_files = "regard.cli.demo.command:write_text"
    demo = "regard.cli.demo.language:show_language_model"

    def run_config(self) -> "type[LanguageModelRun]":
        from regard.tasks.language_model.config import LanguageModelRun

        return LanguageModelRun

    def build(self, config: "LanguageModelConfig", sizes: Mapping[str, int]) -> "LanguageModelNetwork":
        from regard.models import LanguageModelNetwork

        return LanguageModelNetwork(config, sizes["text"])

    def task(
        self, config: "LanguageModelRun", train: Sequence[Any] | None, valid: Sequence[Any] | None
    ) -> "LanguageModelTask":
        from regard.tasks.language_model.task import LanguageModelTask

        return LanguageModelTask(config, train, valid)

    def predictor(self) -> "type[LanguageModel]":
        from regard.tasks.language_model.predictor import LanguageModel

        return LanguageModel

    def presets(self) -> Mapping[str, Callable[[], Preset]]:
        from regard.tasks.language_model.presets import PRESETS

        return PRESETS
