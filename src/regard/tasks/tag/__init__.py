"""Tagging: sentences with a tag for each word in, a tagger out."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from regard.tasks.spec import Preset, TaskSpec

if TYPE_CHECKING:
    from regard.models import TaggerConfig, TaggerNetwork
    from regard.tasks.tag.config import TagRun
    from regard.tasks.tag.predictor import Tagger
    from regard.tasks.tag.task import TagTask


class TagSpec(TaskSpec):
    """The task ``tag``."""

    name = "tag"
    purpose = "tagging"
    example = '("the dog barks", "DET NOUN VERB")'
    default_preset = "tagger"
    commands: ClassVar[Mapping[str, str]] = {
        "tag": "regard.cli.tag:tag",
    }
    first_command = "echo … | regard tag {folder}"
    evaluation = "regard.cli.evaluations.tag:evaluate_tagger"
    evaluation_options = frozenset({"max_length", "reference", "columns", "vertical"})
    demo_files = "regard.cli.demo.command:write_tagged"
    demo = "regard.cli.demo.labels:show_tagger"

    def run_config(self) -> "type[TagRun]":
        from regard.tasks.tag.config import TagRun

        return TagRun

    def build(self, config: "TaggerConfig", sizes: Mapping[str, int]) -> "TaggerNetwork":
        from regard.models import TaggerNetwork

        return TaggerNetwork(config, sizes["text"], sizes["labels"])

    def task(self, config: "TagRun", train: Sequence[Any] | None, valid: Sequence[Any] | None) -> "TagTask":
        from regard.tasks.tag.task import TagTask

        return TagTask(config, train, valid)

    def predictor(self) -> "type[Tagger]":
        from regard.tasks.tag.predictor import Tagger

        return Tagger

    def presets(self) -> Mapping[str, Callable[[], Preset]]:
        from regard.tasks.tag.presets import PRESETS

        return PRESETS
