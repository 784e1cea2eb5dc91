"""Captioning: feature vectors and a caption for each in, a decoder that starts from a vector out."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from regard.tasks.spec import Preset, TaskSpec

if TYPE_CHECKING:
    from regard.models import CaptionerConfig, CaptionerNetwork
    from regard.tasks.caption.config import CaptionRun
    from regard.tasks.caption.predictor import Captioner
    from regard.tasks.caption.task import CaptionTask


class CaptionSpec(TaskSpec):
    """The task ``caption``."""

    name = "caption"
    purpose = "captioning feature vectors"
    example = '([0.5, 1.0], "a caption")'
    default_preset = "captioner"
    commands: ClassVar[Mapping[str, str]] = {
        "caption": "regard.cli.caption:caption",
    }
    first_command = "regard caption {folder} features.npy"
    evaluation = "regard.cli.evaluations.caption:evaluate_captioner"
    evaluation_options = frozenset({"reference", "column", "beam", "length_power", "tokenize", "lowercase"})
    demo_files = "regard.cli.demo.command:write_captions"
    demo = "regard.cli.demo.caption:show_captioner"

    def run_config(self) -> "type[CaptionRun]":
        from regard.tasks.caption.config import CaptionRun

        return CaptionRun

    def build(self, config: "CaptionerConfig", sizes: Mapping[str, int]) -> "CaptionerNetwork":
        from regard.models import CaptionerNetwork

        return CaptionerNetwork(config, sizes["features"], sizes["text"])

    def task(
        self, config: "CaptionRun", train: Sequence[Any] | None, valid: Sequence[Any] | None
    ) -> "CaptionTask":
        from regard.tasks.caption.task import CaptionTask

        return CaptionTask(config, train, valid)

    def predictor(self) -> "type[Captioner]":
        from regard.tasks.caption.predictor import Captioner

        return Captioner

    def presets(self) -> Mapping[str, Callable[[], Preset]]:
        from regard.tasks.caption.presets import PRESETS

        return PRESETS
