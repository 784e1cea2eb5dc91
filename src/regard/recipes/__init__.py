"""Published results as recipes: data, configuration, one command, and the figure to reach.

``regard recipe NAME --data FOLDER`` runs one; a new recipe is a value in a file of this folder and one line below.
"""

from regard.recipes.recipe import Arm as Arm
from regard.recipes.recipe import Corpus as Corpus
from regard.recipes.recipe import Figure as Figure
from regard.recipes.recipe import Recipe as Recipe
from regard.recipes.recipe import RecipeOptions as RecipeOptions
from regard.recipes.recipe import Row as Row
from regard.recipes.recipe import choose_arms as choose_arms
from regard.recipes.recipe import report_json as report_json
from regard.recipes.recipe import run_recipe as run_recipe
from regard.recipes.recipe import summarize as summarize
from regard.recipes.words import G2P_2020, G2P_2021, INFLECTION_2016

RECIPES: dict[str, Recipe] = {recipe.name: recipe for recipe in (G2P_2020, G2P_2021, INFLECTION_2016)}
"""By name."""
