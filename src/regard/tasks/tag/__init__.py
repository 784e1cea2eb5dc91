"""Tagging: sentences with one tag per word in, a tagger out."""

from regard.tasks.spec import TaskSpec

TAG = TaskSpec(
    name="tag",
    purpose="tagging",
    example='("the dog barks", "DET NOUN VERB")',
    default_preset="tagger",
    config="regard.tasks.tag.config:TagRun",
    network="regard.models:TaggerNetwork",
    sizes=("text", "labels"),
    training="regard.tasks.tag.task:TagTask",
    prediction="regard.tasks.tag.predictor:Tagger",
    preset_table="regard.tasks.tag.presets:PRESETS",
    preparation="regard.tasks.tag.preparation:TaggedPreparation",
    planning="regard.tasks.tag.plan:plan_files",
    commands={"tag": "regard.cli.tag:tag"},
    operations={
        "tag": "regard.server.operations.labels:TAG",
        "trace": "regard.server.operations.inside:TRACE",
    },
    first_command="echo … | regard tag {folder}",
    evaluation="regard.tasks.tag.evaluation",
    evaluation_options=frozenset({"max_length", "reference", "columns", "vertical"}),
)
