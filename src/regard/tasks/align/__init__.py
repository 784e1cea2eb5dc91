"""Word alignment: sentence pairs in, an aligner of both directions out."""

from regard.tasks.spec import TaskSpec

ALIGN = TaskSpec(
    name="align",
    purpose="aligning words",
    example='("ein Haus", "a house")',
    texts=("source", "target"),
    default_preset="aligner",
    config="regard.tasks.align.config:AlignRun",
    network="regard.models:AlignerNetwork",
    sizes=("source", "target", "entries"),
    training="regard.tasks.align.task:AlignTask",
    prediction="regard.tasks.align.predictor:Aligner",
    preset_table="regard.tasks.align.presets:PRESETS",
    planning="regard.tasks.align.plan:plan_files",
    commands={"align": "regard.cli.align:align"},
    operations={"align": "regard.server.operations.translate:ALIGN"},
    first_command="regard align {folder} pairs.tsv",
    evaluation="regard.tasks.align.evaluation",
    evaluation_options=frozenset({"max_length", "reference", "columns", "gold", "gold_format"}),
)
