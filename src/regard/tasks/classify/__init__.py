"""Classification: labelled texts in, a classifier out."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from regard.tasks.spec import Preset, TaskSpec

if TYPE_CHECKING:
    from regard.models import ClassifierConfig, ClassifierNetwork
    from regard.tasks.classify.config import ClassifyRun
    from regard.tasks.classify.predictor import Classifier
    from regard.tasks.classify.task import ClassifyTask


class ClassifySpec(TaskSpec):
    """The task ``classify``."""

    name = "classify"
    purpose = "classifying"
    example = '("good", "a fine film")'
    default_preset = "classifier"
    commands: ClassVar[Mapping[str, str]] = {
        "classify": "regard.cli.classify:classify",
    }
    first_command = "echo … | regard classify {folder}"
    evaluation = "regard.cli.evaluations.classify:evaluate_classifier"
    evaluation_options = frozenset({"max_length", "columns", "second_column", "separator", "header"})
    demo_files = "regard.cli.demo.command:write_labelled"
    demo = "regard.cli.demo.labels:show_classifier"

    def run_config(self) -> "type[ClassifyRun]":
        from regard.tasks.classify.config import ClassifyRun

        return ClassifyRun

    def build(self, config: "ClassifierConfig", sizes: Mapping[str, int]) -> "ClassifierNetwork":
        from regard.models import ClassifierNetwork

        return ClassifierNetwork(config, sizes["text"], sizes["labels"])

    def task(
        self, config: "ClassifyRun", train: Sequence[Any] | None, valid: Sequence[Any] | None
    ) -> "ClassifyTask":
        from regard.tasks.classify.task import ClassifyTask

        return ClassifyTask(config, train, valid)

    def predictor(self) -> "type[Classifier]":
        from regard.tasks.classify.predictor import Classifier

        return Classifier

    def presets(self) -> Mapping[str, Callable[[], Preset]]:
        from regard.tasks.classify.presets import PRESETS

        return PRESETS
