"""Published results as recipes: data, configuration, one command, and the figure to reach.

``regard recipe NAME --data FOLDER`` runs one; a new recipe is a value in a file of this folder and one line below.
"""

from regard.recipes.language_models import PENN_TREEBANK, WIKITEXT_2
from regard.recipes.recipe import Arm as Arm
from regard.recipes.recipe import Corpus as Corpus
from regard.recipes.recipe import Figure as Figure
from regard.recipes.recipe import Pretraining as Pretraining
from regard.recipes.recipe import Recipe as Recipe
from regard.recipes.recipe import choose_arms as choose_arms
from regard.recipes.results import Measured as Measured
from regard.recipes.results import Results as Results
from regard.recipes.results import Row as Row
from regard.recipes.results import report_json as report_json
from regard.recipes.results import summarize as summarize
from regard.recipes.run import RecipeOptions as RecipeOptions
from regard.recipes.run import run_recipe as run_recipe
from regard.recipes.sentences import SENTENCE_CLASSES, SICK, SST
from regard.recipes.translation import LADDER, MULTI30K, SMALL_PARALLEL_ENJA, TATOEBA_ENGFRA
from regard.recipes.words import CMUDICT, DAKSHINA_HI, G2P_2020, G2P_2021, INFLECTION_2016

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        *(MULTI30K, LADDER, SMALL_PARALLEL_ENJA, TATOEBA_ENGFRA),
        *(PENN_TREEBANK, WIKITEXT_2),
        *(SST, SENTENCE_CLASSES, SICK),
        *(CMUDICT, G2P_2020, G2P_2021, DAKSHINA_HI, INFLECTION_2016),
    )
}
"""By name."""
