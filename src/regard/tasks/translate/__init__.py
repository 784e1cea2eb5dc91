"""Translation: sentence pairs in, an encoder–decoder with attention out."""

from regard.search.options import SearchOptions
from regard.tasks.spec import TaskSpec

TRANSLATE = TaskSpec(
    name="translate",
    purpose="translating",
    example='("ein Haus", "a house")',
    texts=("source", "target"),
    default_preset="rnnsearch-small",
    config="regard.tasks.translate.config:TranslateRun",
    network="regard.models:Seq2Seq",
    sizes=("source", "target"),
    training="regard.tasks.translate.task:TranslateTask",
    prediction="regard.tasks.translate.predictor:Translator",
    preset_table="regard.tasks.translate.presets:PRESETS",
    preparation="regard.tasks.translate.preparation:PairPreparation",
    planning="regard.tasks.translate.plan:plan_files",
    commands={
        "translate": "regard.cli.translate:translate",
        "tree": "regard.cli.tree:tree",
        "what-if": "regard.cli.what_if:what_if",
        "shortlist": "regard.cli.shortlist:shortlist",
    },
    operations={
        "translate": "regard.server.operations.translate:TRANSLATE",
        "align": "regard.server.operations.translate:ALIGN",
        "trace": "regard.server.operations.inside:TRACE",
        "tree": "regard.server.operations.inside:TREE",
        "what-if": "regard.server.operations.inside:WHAT_IF",
        "nearest": "regard.server.operations.inside:NEAREST",
    },
    first_command="echo … | regard translate {folder}",
    evaluation="regard.tasks.translate.report",
    evaluation_options=frozenset(
        {
            "max_length",
            "gold",
            "gold_format",
            "tokenize",
            "lowercase",
            "reference",
            "columns",
            "features",
            "any_reference",
            "replace_unknowns",
            *SearchOptions.names(),
        }
    ),
)
