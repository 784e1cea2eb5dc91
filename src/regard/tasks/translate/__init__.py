"""Translation: pairs of sentences in, an encoder–decoder with attention out."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from regard.tasks.spec import Preset, TaskSpec

if TYPE_CHECKING:
    from regard.models import ModelConfig, Seq2Seq
    from regard.tasks.translate.config import TranslateRun
    from regard.tasks.translate.predictor import Translator
    from regard.tasks.translate.task import TranslateTask


class TranslateSpec(TaskSpec):
    """The task ``translate``."""

    name = "translate"
    purpose = "translating"
    example = '("ein Haus", "a house")'
    texts = ("source", "target")
    default_preset = "rnnsearch-small"
    commands: ClassVar[Mapping[str, str]] = {
        "translate": "regard.cli.translate:translate",
        "align": "regard.cli.align:align",
        "tree": "regard.cli.tree:tree",
        "what-if": "regard.cli.what_if:what_if",
        "shortlist": "regard.cli.shortlist:shortlist",
    }
    first_command = "echo … | regard translate {folder}"
    evaluation = "regard.cli.evaluations.translate:evaluate_translator"
    evaluation_options = frozenset(
        {"max_length", "gold", "beam", "length_power", "tokenize", "lowercase", "reference", "columns"}
    )
    demo_files = "regard.cli.demo.command:write_sides"
    demo = "regard.cli.demo.translate:show_translator"

    def run_config(self) -> "type[TranslateRun]":
        from regard.tasks.translate.config import TranslateRun

        return TranslateRun

    def build(self, config: "ModelConfig", sizes: Mapping[str, int]) -> "Seq2Seq":
        from regard.models import Seq2Seq

        return Seq2Seq(config, sizes["source"], sizes["target"])

    def task(
        self, config: "TranslateRun", train: Sequence[Any] | None, valid: Sequence[Any] | None
    ) -> "TranslateTask":
        from regard.tasks.translate.task import TranslateTask

        return TranslateTask(config, train, valid)

    def predictor(self) -> "type[Translator]":
        from regard.tasks.translate.predictor import Translator

        return Translator

    def presets(self) -> Mapping[str, Callable[[], Preset]]:
        from regard.tasks.translate.presets import PRESETS

        return PRESETS
