"""Captioning: feature vectors with a caption each in, a decoder that starts from a vector out."""

from regard.search.options import NEED_A_SOURCE, SearchOptions
from regard.tasks.spec import TaskSpec

CAPTION = TaskSpec(
    name="caption",
    purpose="captioning feature vectors",
    example='([0.5, 1.0], "a caption")',
    default_preset="captioner",
    config="regard.tasks.caption.config:CaptionRun",
    network="regard.models:CaptionerNetwork",
    sizes=("features", "text"),
    training="regard.tasks.caption.task:CaptionTask",
    prediction="regard.tasks.caption.predictor:Captioner",
    preset_table="regard.tasks.caption.presets:PRESETS",
    commands={"caption": "regard.cli.caption:caption"},
    first_command="regard caption {folder} features.npy",
    evaluation="regard.tasks.caption.evaluation",
    evaluation_options=frozenset(
        {"max_length", "reference", "column", "tokenize", "lowercase", *SearchOptions.names()} - NEED_A_SOURCE
    ),
)
