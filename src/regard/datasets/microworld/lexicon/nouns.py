"""Nouns and adjectives.

Nouns by kind: English (an irregular plural after a slash), French, and the French gender. A kind is what verbs and
adjectives select by. English nouns for people have one French gender each, so that the English line determines the
French one. Adjectives: English | French (feminine after a slash where no rule gives it) | comparative | kinds of noun;
those of the first table come before a French noun, those of the second after it. A comparative is the English form,
``more``, or ``-`` where the grammar does not compare.
"""

from regard.datasets.microworld.english import noun_plural
from regard.datasets.microworld.french import adjective_forms, plural
from regard.datasets.microworld.lexicon.entries import AdjectiveEntry, NounEntry

_TABLES = {
    "person": """
man/men homme m            | woman/women femme f       | boy garçon m           | girl fille f
father père m              | mother mère f             | brother frère m        | sister sœur f
son fils m                 | daughter fille f          | uncle oncle m          | aunt tante f
grandfather grand-père/grands-pères m                  | grandmother grand-mère/grands-mères f
king roi m                 | queen reine f             | neighbour voisin m     | friend ami m
child/children enfant m    | doctor médecin m          | teacher professeur m   | student étudiant m
baker boulanger m          | farmer fermier m          | hero héros m           | nurse infirmière f
actress actrice f          | princess princesse f      | waitress serveuse f | policeman/policemen policier m
musician musicien m        | lawyer avocat m           | thief/thieves voleur m | cousin cousin m
""",
    "animal": """
dog chien m   | cat chat m    | horse cheval m   | bird oiseau m     | mouse/mice souris f | cow vache f
wolf/wolves loup m | rabbit lapin m | fox renard m | duck canard m    | elephant éléphant m | hen poule f
owl hibou m   | bee abeille f
""",
    "food": """
apple pomme f  | orange orange f | egg œuf m      | cake gâteau m      | tomato tomate f | pear poire f
carrot carotte f | strawberry fraise f | biscuit biscuit m | banana banane f | bean haricot m
""",
    "stuff": """
bread pain m  | cheese fromage m | meat viande f | rice riz m | chocolate chocolat m | soup soupe f
salad salade f | honey miel m
""",
    "drink": """
water eau f   | milk lait m   | coffee café m  | tea thé m    | wine vin m          | beer bière f
""",
    "text": """
book livre m  | letter lettre f | newspaper journal m | story histoire f | poem poème m | novel roman m
""",
    "clothes": """
dress robe f  | shirt chemise f | hat chapeau m | coat manteau m | shoe chaussure f | jacket veste f
skirt jupe f  | scarf/scarves écharpe f
""",
    "vehicle": """
car voiture f | train train m | boat bateau m  | bicycle vélo m | plane avion m | bus bus m | lorry camion m
""",
    "thing": """
key clé f     | knife/knives couteau m | glass verre m | cup tasse f | plate assiette f | bag sac m
box boîte f   | ball balle f  | phone téléphone m | computer ordinateur m | painting tableau m
clock horloge f | lamp lampe f | umbrella parapluie m | ring bague f | toy jouet m | flower fleur f
bottle bouteille f | suitcase valise f | map carte f | gift cadeau m | photo photo f
""",
    "furniture": """
table table f | chair chaise f | bed lit m | sofa canapé m | shelf/shelves étagère f | desk bureau m
""",
    "opening": """
door porte f  | window fenêtre f | gate portail/portails m
""",
    "site": """
school école f | park parc m | market marché m | church église f | museum musée m | hotel hôtel m
restaurant restaurant m | library bibliothèque f | bakery boulangerie f | station gare f
hospital hôpital m | castle château m | theatre théâtre m | airport aéroport m | farm ferme f | beach plage f
""",
    "area": """
house maison f | garden jardin m | kitchen cuisine f | village village m | city ville f | forest forêt f
street rue f  | field champ m | room chambre f
""",
    "idea": """
idea idée f   | question question f | answer réponse f | problem problème m | dream rêve m
secret secret m | lesson leçon f | exercise exercice m | song chanson f
""",
    "instrument": """
piano piano m | guitar guitare f | violin violon m | flute flûte f
""",
}

_MASS = ("stuff", "drink")
_NAMES = "Marie f | Paul m | Alice f | Pierre m | Julie f | Thomas m | Emma f | Louis m | Anna f | Arthur m"

GROUPS = {
    "object": ("text", "clothes", "vehicle", "thing", "furniture", "opening"),
    "edible": ("food", "stuff"),
    "place": ("site", "area"),
}
"""Names for several kinds at once."""


_OWNED_TABLE = """
animal text clothes vehicle thing furniture instrument idea food opening
father mother brother sister son daughter uncle aunt grandfather grandmother neighbour friend child doctor teacher
lawyer cousin house garden kitchen village city room school hotel farm castle
"""
_OWNED = frozenset(_OWNED_TABLE.split())
"""Kinds of noun and single nouns that my, your, his … go with."""
_RARELY_PLURAL = frozenset(("father", "mother", "king", "queen", "site", "area"))


def _forms(entry: str) -> tuple[str, str]:
    singular, _, many = entry.partition("/")
    return singular, many


def _read() -> dict[str, tuple[NounEntry, ...]]:
    kinds = {}
    for kind, table in _TABLES.items():
        nouns = []
        for cell in table.replace("\n", "|").split("|"):
            if cell.strip():
                english, french, gender = cell.split()
                one, many = _forms(english)
                un, des = _forms(french)
                en = (one, many or noun_plural(one))
                owned = kind in _OWNED or one in _OWNED
                plurality = (
                    0.0
                    if kind in _MASS
                    else 0.08
                    if one in _RARELY_PLURAL or kind in _RARELY_PLURAL
                    else 0.36
                )
                nouns.append(
                    NounEntry(
                        en, (un, des or plural(un)), gender == "f", kind, kind in _MASS, owned, plurality
                    )
                )
        kinds[kind] = tuple(nouns)
    return kinds


NOUNS = _read()
"""All common nouns by kind."""

BY_NAME = {noun.en[0]: noun for nouns in NOUNS.values() for noun in nouns}

NAMES = tuple(
    NounEntry((name, name), (name, name), gender == "f", "person", False, False, 0.0)
    for name, gender in (cell.split() for cell in _NAMES.split("|"))
)
"""First names of people, the same in both languages."""


def kinds_in(text: str) -> frozenset[str]:
    """The kinds named in a cell of a table, groups expanded."""
    return frozenset(kind for name in text.split() for kind in GROUPS.get(name, (name,)))


def nouns_in(text: str) -> tuple[NounEntry, ...]:
    """The nouns that a cell of a table names, by kind, by group or one by one, in its order."""
    nouns: list[NounEntry] = []
    for name in text.split():
        if name in BY_NAME:
            nouns.append(BY_NAME[name])
        else:
            for kind in GROUPS.get(name, (name,)):
                nouns.extend(NOUNS[kind])
    return tuple(nouns)


_BEFORE = """
big       | grand           | bigger   | animal vehicle thing furniture opening place food
small     | petit           | smaller  | person animal food object place instrument
tall      | grand           | taller   | person
beautiful | beau/belle      | more     | person animal object place instrument
pretty    | joli            | prettier | clothes thing area
good      | bon/bonne       | better   | edible drink text
bad       | mauvais         | -        | edible drink text idea
young     | jeune           | younger  | person animal
old       | vieux/vieille   | older    | person animal object place instrument
new       | nouveau/nouvelle | newer   | object place instrument idea
long      | long/longue     | longer   | text clothes idea
fat       | gros/grosse     | fatter   | animal
other     | autre           | -        | person animal food object place idea instrument
"""

_AFTER = """
red         | rouge       | - | clothes vehicle thing furniture opening
blue        | bleu        | - | clothes vehicle thing furniture opening
green       | vert        | - | clothes vehicle thing furniture opening
black       | noir        | - | animal clothes vehicle thing furniture
white       | blanc       | - | animal clothes vehicle thing furniture opening
yellow      | jaune       | - | clothes vehicle thing furniture
grey        | gris        | - | animal clothes vehicle
happy       | heureux     | happier | person
sad         | triste      | sadder | person
tired       | fatigué     | more | person animal
rich        | riche       | richer | person
poor        | pauvre      | poorer | person
strong      | fort        | stronger | person animal
intelligent | intelligent | more | person animal
kind        | gentil/gentille | kinder | person
famous      | célèbre     | more | person place text
brave       | courageux   | braver | person animal
lazy        | paresseux   | lazier | person animal
serious     | sérieux     | more | person
sick        | malade      | - | person animal
shy         | timide      | shyer | person
polite      | poli        | more | person
honest      | honnête     | more | person
curious     | curieux     | more | person animal
patient     | patient     | more | person
jealous     | jaloux/jalouse | more | person
expensive   | cher        | more | clothes vehicle thing furniture food drink stuff instrument
heavy       | lourd       | heavier | thing furniture
light       | léger       | lighter | clothes thing furniture
clean       | propre      | cleaner | clothes vehicle thing furniture place
dirty       | sale        | dirtier | clothes vehicle thing furniture place
empty       | vide        | - | vehicle area site
modern      | moderne     | more | vehicle furniture place
broken      | cassé       | - | thing furniture opening
useful      | utile       | more | thing text
interesting | intéressant | more | text idea
difficult   | difficile   | more | text idea
easy        | facile      | easier | idea
important   | important   | more | text idea
strange     | étrange     | stranger | person animal text idea thing
dangerous   | dangereux   | more | animal vehicle area
quiet       | calme       | quieter | person animal place
round       | rond        | - | thing furniture opening
cold        | froid       | colder | stuff drink
hot         | chaud       | hotter | stuff drink
fresh       | frais/fraîche | fresher | food stuff
delicious   | délicieux   | more | food stuff drink
comfortable | confortable | more | clothes vehicle furniture
French      | français    | - | person text vehicle
Italian     | italien     | - | person text vehicle
wild        | sauvage     | - | animal
"""

_BRIDGING = {"beau": "bel", "nouveau": "nouvel", "vieux": "vieil"}


def _read_adjectives(table: str, before: bool) -> list[AdjectiveEntry]:
    adjectives = []
    for line in table.strip().splitlines():
        english, french, comparative, kinds = (cell.strip() for cell in line.split("|"))
        forms = adjective_forms(french)
        bridging = _BRIDGING.get(forms[0], forms[0])
        comparison = "" if comparative == "-" else comparative
        adjectives.append(AdjectiveEntry(english, forms, bridging, before, comparison, kinds_in(kinds)))
    return adjectives


ADJECTIVES = tuple(_read_adjectives(_BEFORE, True) + _read_adjectives(_AFTER, False))

FOR_KIND = {kind: tuple(a for a in ADJECTIVES if kind in a.kinds) for kind in NOUNS}
"""Attributive adjectives by the kind of noun."""

PREDICATES = {
    kind: tuple(a for a in adjectives if a.en not in ("other", "new"))
    for kind, adjectives in FOR_KIND.items()
}
"""Predicative adjectives; a new car is nouvelle, but one that is new is neuve."""

COMPARED = {kind: tuple(a for a in adjectives if a.comparative) for kind, adjectives in PREDICATES.items()}
"""Those with a comparative."""
