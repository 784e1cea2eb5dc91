"""Language modelling: lines of text in, a model that predicts each token from those before it out."""

from regard.tasks.spec import TaskSpec

LANGUAGE_MODEL = TaskSpec(
    name="language_model",
    purpose="sampling and scoring text (a language model)",
    example='("a line",)',
    default_preset="lstm-lm",
    config="regard.tasks.language_model.config:LanguageModelRun",
    network="regard.models:LanguageModelNetwork",
    sizes=("text",),
    training="regard.tasks.language_model.task:LanguageModelTask",
    prediction="regard.tasks.language_model.predictor:LanguageModel",
    preset_table="regard.tasks.language_model.presets:PRESETS",
    preparation="regard.tasks.language_model.preparation:LinePreparation",
    planning="regard.tasks.language_model.plan:plan_files",
    commands={
        "sample": "regard.cli.sample:sample",
        "score": "regard.cli.score:score",
        "read": "regard.cli.read:read",
    },
    operations={
        "sample": "regard.server.operations.language_model:SAMPLE",
        "score": "regard.server.operations.language_model:SCORE",
        "trace": "regard.server.operations.inside:TRACE",
    },
    first_command="regard sample {folder}",
    evaluation="regard.tasks.language_model.evaluation",
    evaluation_options=frozenset({"continuous"}),
)
