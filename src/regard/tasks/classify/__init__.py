"""Classification: labelled texts in, a classifier out."""

from regard.tasks.spec import TaskSpec

CLASSIFY = TaskSpec(
    name="classify",
    purpose="classifying",
    example='("good", "a fine film")',
    default_preset="classifier",
    config="regard.tasks.classify.config:ClassifyRun",
    network="regard.models:ClassifierNetwork",
    sizes=("text", "labels"),
    training="regard.tasks.classify.task:ClassifyTask",
    prediction="regard.tasks.classify.predictor:Classifier",
    preset_table="regard.tasks.classify.presets:PRESETS",
    preparation="regard.tasks.classify.preparation:LabelledTextPreparation",
    planning="regard.tasks.classify.plan:plan_files",
    commands={"classify": "regard.cli.classify:classify"},
    operations={
        "classify": "regard.server.operations.labels:CLASSIFY",
        "trace": "regard.server.operations.inside:TRACE",
    },
    first_command="echo … | regard classify {folder}",
    evaluation="regard.tasks.classify.evaluation",
    evaluation_options=frozenset({"max_length", "columns", "second_column", "separator", "header"}),
)
