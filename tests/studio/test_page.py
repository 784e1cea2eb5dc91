"""The studio's page, used as a person would: every view, at three widths, light and dark, by mouse and keyboard."""

import io
import json
import re
from pathlib import Path
from urllib.parse import parse_qs, quote, urlparse

import numpy as np
import pytest
import torch
from PIL import Image

pytest.importorskip("fastapi", reason="the extra serve is not installed")
pytest.importorskip("playwright", reason="playwright is not installed")

from regard import LanguageModel, Translator
from regard.checkpoint import ModelFolder
from regard.inference.ensemble import Ensemble
from regard.models import LanguageModelNetwork, Seq2Seq
from regard.server.config import ModelEntry
from regard.studio.corpus import Corpus
from regard.tasks import TASKS

from .conftest import PAIRS, make_run

FIXTURES = Path(__file__).parents[1] / "fixtures"
TEXT = "der Hund schläft ."
TRANSLATE = ("attention", "steps", "beam", "whatif", "align", "states", "neighbours", "training", "lab")
VIEWS = {
    "translate": TRANSLATE,
    "lm": ("sample", "steps", "states", "neighbours", "training"),
    "classify": ("labels", "steps", "states", "neighbours", "training"),
    "tag": ("labels", "steps", "states", "neighbours", "training"),
}


def open_studio(page, url, model="translate", text=TEXT, view=None):
    chosen = f"&view={view}" if view else ""
    page.goto(f"{url}?model={model}&q={quote(text)}{chosen}")
    page.wait_for_selector("body[data-ready]")


def expected(service, text=TEXT, **options):
    return service.registry["translate"].predictor.translate([text], **{"beam": 5, "n_best": 5, **options})[0]


def test_typing_translates_and_the_address_holds_the_text(page, url, service):
    page.goto(f"{url}?model=translate")
    page.wait_for_selector("body[data-ready]")
    assert page.locator("#tabs").is_hidden()
    page.get_by_role("textbox", name="Translate").press_sequentially(TEXT, delay=5)
    page.wait_for_function(
        "text => document.querySelector('#answer').textContent === text", arg=expected(service).text
    )
    assert parse_qs(urlparse(page.url).query)["q"] == [TEXT]
    page.reload()
    page.wait_for_function(
        "text => document.querySelector('#answer').textContent === text", arg=expected(service).text
    )


def test_partial_translations_arrive_before_the_last(page, url):
    page.goto(f"{url}?model=translate")
    page.wait_for_selector("body[data-ready]")
    page.evaluate(
        """() => { window.seen = [];
        new MutationObserver(() => seen.push(document.querySelector('#answer').className)).observe(
            document.querySelector('#answer'), {childList: true, attributes: true}); }"""
    )
    page.locator("#text").fill(TEXT)
    page.locator("#text").press("Enter")
    page.wait_for_selector("#panel svg")
    assert "partial" in page.evaluate("seen")
    assert page.locator("#answer").get_attribute("class") == ""


def test_the_n_best_list_has_scores_and_each_has_its_attention(page, url, service):
    open_studio(page, url)
    best = page.locator("#best button")
    wanted = [expected(service), *expected(service).alternatives]
    assert best.count() == len(wanted)
    for k, each in enumerate(wanted):
        assert best.nth(k).inner_text().split("\n")[-1] == f"{each.score:.2f}".replace("-", "−")
    best.nth(1).click()
    page.wait_for_function("n => document.querySelectorAll('.heatmap .cell').length === n",
                           arg=wanted[1].alpha.size)  # fmt: skip
    assert best.nth(1).get_attribute("aria-pressed") == "true"


def test_a_word_that_is_touched_lights_up_its_partners_with_their_weights(page, url, service):
    open_studio(page, url)
    alpha, words = expected(service).alpha, expected(service).source_tokens
    page.locator(".links [data-side=target]").first.hover()
    readout = page.locator(".attention .readout").inner_text()
    assert f"{words[alpha[0].argmax()]} {alpha[0].max():.2f}" in readout
    shown = page.locator(".links [data-side=source] .weight").all_text_contents()
    assert [float(text) for text in shown if text] == pytest.approx(
        [value for value in alpha[0] if value >= 0.01], abs=0.006
    )
    page.locator(".links [data-side=source]").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.k") == "1"
    assert page.locator(".attention .readout").inner_text().startswith(words[1])
    page.get_by_label("Hard links").check()
    page.wait_for_selector(".heatmap .ring")
    assert page.locator(".heatmap .ring").count() == len(alpha) - 1


def test_every_member_of_an_ensemble_has_its_attention_and_its_steps(page, url, service):
    pair = [Translator.load(FIXTURES / "format-2" / "translate") for _ in range(2)]
    with torch.no_grad():
        pair[1].model.encoder.embedding.E.mul_(0.3)
    both = Translator(
        Ensemble([each.model for each in pair]), pair[0].source_tokenizer, pair[0].target_tokenizer
    )
    service.registry.add("both", both)
    try:
        open_studio(page, url, model="both")
        shown = {}
        for name in ("Mean", "Seed 1", "Seed 2"):
            page.get_by_role("radio", name=name).click()
            page.wait_for_selector(f"#panel[aria-busy=false] [aria-checked=true]:text-is('{name}')")
            cells = page.locator(".heatmap .cell").evaluate_all(
                "all => all.map(cell => cell.getAttribute('fill-opacity'))"
            )
            shown[name] = [float(cell) for cell in cells]
        tokens = both.translate([TEXT], beam=5)[0].text
        for member, one in enumerate(pair):
            alpha = one.trace(TEXT, tokens).alpha
            assert shown[f"Seed {member + 1}"] == pytest.approx(alpha.flatten().tolist(), abs=0.002)
        assert shown["Seed 1"] != shown["Seed 2"]
        page.get_by_role("tab", name="Step by step").click()
        page.get_by_role("radio", name="Seed 2").click()
        page.wait_for_selector(".steps .worked")
    finally:
        del service.registry._models["both"]


def test_steps_are_played_and_have_the_numbers_of_the_trace(page, url, service):
    open_studio(page, url, view="steps")
    trace = service.registry["translate"].predictor.trace(TEXT, beam=5)
    assert "Decoder 1/" in page.locator(".steps h2").inner_text()
    first = trace["decoder"].steps[0].values["alpha"]
    row = page.locator(".part", has=page.locator(".name", has_text=re.compile("^alpha$"))).locator(
        ".cells > span"
    )
    assert [float(text.split("\n")[-1].replace("−", "-")) for text in row.all_inner_texts()] == pytest.approx(
        first.tolist(), abs=0.0006
    )
    page.get_by_role("button", name="Next step").click()
    assert "Decoder 2/" in page.locator(".steps h2").inner_text()
    page.get_by_role("slider", name="Step").press("Home")
    assert page.locator(".steps h2").inner_text().startswith("Encoder")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("() => document.querySelector('.steps h2').textContent.includes('2/')")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("radio", name="Slides").click()
    page.wait_for_selector(".steps [role=radio][data-value=slides][aria-checked=true]")


def test_no_word_or_score_of_the_beam_is_cut_off(page, url):
    open_studio(page, url, view="beam")
    page.get_by_label("Pruned hypotheses").uncheck()  # words among them may be wider than a score
    over = "all => all.map(text => text.getBBox().x + text.getBBox().width - text.ownerSVGElement.width.baseVal.value)"
    assert max(page.locator(".tree .node text").evaluate_all(over)) <= 0


def test_a_single_character_stays_upright_above_its_column(page, url):
    open_studio(page, url)
    words = page.locator(".heatmap .word[transform]").evaluate_all(
        "all => all.map(word => [word.textContent, word.getAttribute('transform')])"
    )
    assert {word: "rotate" in turned for word, turned in words}.items() >= {"Hund": True, ".": False}.items()


def test_the_beam_grows_and_a_node_shows_its_attention_and_its_words(page, url, service):
    open_studio(page, url, view="beam")
    tree = service.registry["translate"].predictor.tree(TEXT, beam=5, n_best=5)
    number = sum(map(len, tree.steps))
    assert page.locator(".tree .node").count() == number
    page.get_by_role("slider", name="Steps of the search").press("Home")
    assert page.locator(".tree .node").count() == len(tree.steps[0])
    page.get_by_role("button", name="Grow").click()
    page.wait_for_function("n => document.querySelectorAll('.tree .node').length > n", arg=len(tree.steps[0]))
    page.get_by_role("slider", name="Steps of the search").press("End")
    page.get_by_label("Pruned hypotheses").uncheck()
    kept = sum(node.fate != "pruned" for step in tree.steps for node in step)
    assert page.locator(".tree .node").count() == kept
    node = tree.steps[0][1]
    page.locator(f".tree .node[data-id='{node.id}']").click()
    assert page.locator(".nodepanel h2").inner_text().endswith(node.token)
    tokens = page.locator(".nodepanel .bars .name").all_inner_texts()
    assert tokens == [token for token, _ in node.alternatives][:8]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.locator(".tree .node.chosen").get_attribute("data-t") == "1"


def test_another_target_word_another_source_word_and_attention_that_is_moved(page, url, service):
    open_studio(page, url, view="whatif")
    predictor = service.registry["translate"].predictor
    before = expected(service)
    words = before.text.split()
    page.get_by_role("group", name="Target words").get_by_role("button").nth(1).click()
    offered = page.locator(".menu .bars button:not(:disabled)")
    other = next(
        word for word in page.locator(".menu .bars .name").all_inner_texts() if word not in (words[1], ".")
    )
    offered.filter(has_text=other).first.click()
    after = predictor.what_if(TEXT, beam=5, prefix=f"{words[0]} {other}").after
    page.wait_for_function("n => document.querySelectorAll('.side').length === n", arg=2)
    assert page.locator(".side").nth(1).locator(".plain").nth(1).inner_text().strip() == after.text
    assert other in page.locator(".side").nth(1).locator("mark").all_inner_texts()
    page.locator(".chip.removable").click()
    page.wait_for_function("n => document.querySelectorAll('.side').length === n", arg=1)
    page.get_by_role("group", name="Source words").get_by_role("button").nth(1).click()
    page.wait_for_selector(".menu .bars button")
    nearest = predictor.nearest_words("Hund", 6)
    assert page.locator(".menu .bars .name").all_inner_texts() == [word for word, _ in nearest]
    page.locator(".menu .bars button").first.click()
    page.wait_for_function("n => document.querySelectorAll('.side').length === n", arg=2)
    assert page.locator(".side").nth(1).locator("mark").first.inner_text() == nearest[0][0]
    page.locator(".chip.removable").click()
    page.wait_for_function("n => document.querySelectorAll('.side').length === n", arg=1)
    source, target = (page.locator(f".side [data-side={side}]").first for side in ("source", "target"))
    target.hover()
    page.mouse.down()
    box = source.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 20, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    page.wait_for_function("n => document.querySelectorAll('.side').length === n", arg=2)
    forced = predictor.what_if(TEXT, beam=5, attend={0: 0}).after
    assert page.locator(".side").nth(1).locator(".plain").nth(1).inner_text().strip() == forced.text
    page.locator(".side").nth(1).locator("[data-side=target]").first.hover()
    assert page.locator(".side").nth(1).locator(".readout").inner_text().endswith("der 1.00")


def test_a_word_that_the_vocabulary_lacks_is_an_error_that_says_so(page, url):
    open_studio(page, url, view="whatif")
    page.get_by_role("group", name="Target words").get_by_role("button").first.click()
    page.get_by_role("textbox", name="Another target word").fill("xyzzy")
    page.get_by_role("button", name="Use", exact=True).click()
    assert "xyzzy" in page.get_by_role("alert").last.inner_text()
    page.wait_for_timeout(50)


def decoder_states(service):
    steps = service.registry["translate"].predictor.trace(TEXT, beam=5)["decoder"].steps
    return np.stack([step.values["state"] for step in steps])


@pytest.fixture
def corpus(service):
    """What the service searches, read to the end."""
    corpus = Corpus(service.registry["translate"].predictor)
    corpus.read_on(1e9)
    return corpus


def found_texts(page):
    page.wait_for_selector(".results-of-search[aria-busy=false] .matches")
    return page.locator(".matches li").evaluate_all(
        "all => all.map(li => (li.querySelector('.source') ?? li.querySelector('.found')).textContent.trim())"
    )


def test_units_that_stay_on_over_a_range_are_found_in_other_sentences(page, url, service, corpus):
    open_studio(page, url, view="states")
    page.get_by_label("First word").select_option("1")
    page.get_by_label("Last word").select_option("2")
    page.get_by_role("slider", name="Threshold").fill("0.1")
    rows = decoder_states(service)
    on = np.flatnonzero((rows[1:3] >= 0.1).all(axis=0)).tolist()
    chips = page.get_by_role("group", name="Units", exact=True).get_by_role("button")
    page.wait_for_function(
        "n => document.querySelectorAll('[aria-label=Units] button').length === n", arg=len(on)
    )
    assert [int(text) for text in chips.all_inner_texts()] == on
    assert page.locator(".units .tick").count() == len(on)
    options = {"threshold": 0.1, "length": 2, "text": TEXT}
    wanted = corpus.match("decoder", "state", on, **options)
    assert found_texts(page) == [corpus.examples[place.sentence].text for place, _ in wanted]
    values = page.locator(".matches .value").all_inner_texts()
    assert [float(value) for value in values] == pytest.approx(
        [place.value for place, _ in wanted], abs=0.006
    )
    best, _ = wanted[0]
    marked = page.locator(".matches li").first.locator("mark").all_inner_texts()
    assert marked == corpus.words("decoder", best.sentence)[best.first : best.last + 1]
    alike = page.locator(".alike .chip").all_inner_texts()
    assert [int(text.split()[0]) for text in alike] == [
        unit for unit, _ in corpus.alike("decoder", "state", on)
    ]
    page.get_by_label("Off before and after").check()
    edges = [unit for unit in on if rows[0, unit] < 0.1 and rows[3, unit] < 0.1]
    page.wait_for_function(
        "n => document.querySelectorAll('[aria-label=Units] button').length === n", arg=len(edges)
    )
    page.get_by_label("Off before and after").uncheck()
    page.get_by_label("Negative").check()
    below = np.flatnonzero((rows[1:3] <= -0.1).all(axis=0)).tolist()
    page.wait_for_function(
        "n => document.querySelectorAll('[aria-label=Units] button').length === n", arg=len(below)
    )
    text = found_texts(page)[0]
    page.locator(".matches a").first.click()
    page.wait_for_function("text => document.querySelector('#text').value === text", arg=text)
    assert parse_qs(urlparse(page.url).query)["q"] == [text]


def test_words_are_drawn_over_and_a_unit_is_clicked(page, url, service):
    open_studio(page, url, view="states")
    rows = page.locator(".units .word-row")
    first, last = rows.nth(1).bounding_box(), rows.nth(3).bounding_box()
    page.mouse.move(first["x"] + 5, first["y"] + 5)
    page.mouse.down()
    page.mouse.move(last["x"] + 5, last["y"] + 5, steps=3)
    page.mouse.up()
    assert page.get_by_label("First word").input_value() == "1"
    assert page.get_by_label("Last word").input_value() == "3"
    page.get_by_label("First word").select_option("")
    states = decoder_states(service)
    area = page.locator(".units .unit-area")
    box = area.bounding_box()
    area.click(position={"x": box["width"] * 3.5 / states.shape[1], "y": 5})
    assert page.locator(".states h2").first.inner_text() == "1 unit chosen"
    shown = page.locator(".states .cells-line > span").all_inner_texts()
    assert [float(each.split()[-1].replace("−", "-")) for each in shown] == pytest.approx(
        states[:, 3].tolist(), abs=0.006
    )
    assert page.locator(".states .readout").inner_text().startswith("unit 3 at ")
    page.locator(".alike .chip").first.click()
    assert page.locator(".states h2").first.inner_text() == "1 unit chosen"
    page.get_by_label("Quantity").select_option("update")
    page.wait_for_selector("figure[data-name='Decoder: update']")
    assert page.locator(".units .tick").count() == 0


def test_a_model_whose_data_are_not_here_shows_this_sentence_alone(page, url, service, tmp_path):
    folder = make_run(tmp_path / "run", "translate")
    service.registry.load("alone", ModelEntry(str(folder)))
    (folder / "pairs.tsv").unlink()
    try:
        open_studio(page, url, model="alone", view="states")
        page.get_by_label("First word").select_option("1")
        page.get_by_role("slider", name="Threshold").fill("0.01")
        page.get_by_text("Other sentences are not searched: the data of the run are not here").wait_for()
        assert page.get_by_text("Units that behave alike over these words").count() == 1
        page.get_by_role("tab", name="Neighbours").click()
        page.get_by_text("Other sentences are not searched").wait_for()
        assert page.locator(".scatter .point").count() == len(TEXT.split()) + 1
        page.get_by_role("tab", name="Training").click()
        page.get_by_text("No outputs to show: the data of the run are not here").wait_for()
    finally:
        del service.registry._models["alone"]


def test_neighbours_are_the_nearest_states_of_other_sentences(page, url, service, corpus):
    open_studio(page, url, view="neighbours")
    steps = service.registry["translate"].predictor.trace(TEXT, beam=5)["annotations"].steps
    rows = np.stack([step.values["annotation"] for step in steps])
    words = page.get_by_role("group", name="Whose neighbours").get_by_role("button")
    assert words.all_inner_texts() == [*TEXT.split(), "</s>", "the whole sentence"]

    def check(vector, whole):
        page.wait_for_selector(".results-of-search[aria-busy=false]")
        assert f"{len(PAIRS)} training sentences searched" in page.locator(".near h2").inner_text()
        wanted = corpus.nearest("annotations", "annotation", vector.tolist(), whole=whole, text=TEXT)
        values = page.locator(".matches .value").all_inner_texts()
        assert [float(value) for value in values] == pytest.approx(
            [place.value for place in wanted], abs=0.006
        )

    for k in (1, 2):
        words.nth(k).click()
        page.get_by_role("heading", name=f"Nearest to “{TEXT.split()[k]}”").wait_for()
        check(rows[k], False)
        assert page.locator(".matches mark").count() == page.locator(".matches li").count()
    words.last.click()
    page.get_by_role("heading", name="Nearest to this sentence").wait_for()
    check(rows.mean(axis=0), True)
    page.wait_for_selector(".scatter .other")
    components = corpus.components("annotations", "annotation")
    assert f"{round(100 * components.shares[0])} % and" in page.locator(".neighbours figure").inner_text()
    assert page.locator(".scatter .other").count() > 50
    page.locator(".scatter .point[data-k='0']").click()
    assert words.first.get_attribute("aria-pressed") == "true"
    page.get_by_label("Part").select_option("decoder")
    page.get_by_label("Quantity").select_option("context")
    page.wait_for_selector("figure[data-name='Projection of context']")


def test_attention_over_what_was_read_before(page, url, service):
    tokenizer = service.registry["lm"].predictor.tokenizer
    sizes = {"cell": "lstmn", "embedding_size": 6, "state_size": 6, "num_layers": 2}
    config = TASKS["language_model"].model_config().from_mapping(sizes, "model")
    torch.manual_seed(1)
    model = LanguageModel(LanguageModelNetwork(config, tokenizer.size).eval(), tokenizer)
    service.registry.add("lstmn", model)
    try:
        open_studio(page, url, model="lm", text="the dog sleeps .")
        assert page.get_by_role("tab", name="Reading").count() == 0  # an LSTM has no such attention
        open_studio(page, url, model="lstmn", text="the dog sleeps .", view="reading")
        steps = model.trace("the dog sleeps .")["language_model"].steps
        for layer in (1, 2):
            cells = page.locator(f"figure[data-name='Language model, layer {layer}, heat map'] .cell")
            shown = [
                float(each)
                for each in cells.evaluate_all("all => all.map(cell => cell.getAttribute('fill-opacity'))")
            ]
            width = len(steps) - 1
            for t, step in enumerate(steps):
                own = step.values[f"layer{layer}.past.alpha"].tolist()
                assert shown[t * width : t * width + len(own)] == pytest.approx(own, abs=0.002)
        page.locator(".links [data-side=target]").nth(2).hover()
        assert page.locator(".attention .readout").first.inner_text().startswith("dog ←")
    finally:
        del service.registry._models["lstmn"]


@pytest.mark.parametrize(("model", "part"), [("lstmn", "past.alpha"), ("classify", "alpha")])
def test_steps_draw_attention_as_wide_as_its_weights(page, url, service, model, part):
    """To the past of a cell with a memory, and of a classifier's pooling; never by energies, which have no bound."""
    text = "a fine film ."
    if model == "lstmn":
        tokenizer = service.registry["lm"].predictor.tokenizer
        sizes = {"cell": "lstmn", "embedding_size": 6, "state_size": 6}
        config = TASKS["language_model"].model_config().from_mapping(sizes, "model")
        torch.manual_seed(1)
        network = LanguageModelNetwork(config, tokenizer.size).eval()
        service.registry.add("lstmn", LanguageModel(network, tokenizer))
    try:
        trace = service.registry[model].predictor.trace(text)
        section = next(each for each in trace.sections if part in each.steps[-1].values)
        moment = sum(len(each.steps) for each in trace.sections[: trace.sections.index(section) + 1]) - 1
        open_studio(page, url, model=model, text=text, view="steps")
        page.get_by_role("slider", name="Step").fill(str(moment))
        weights = section.steps[-1].values[part]
        widths = page.locator(".unrolled .ribbon").evaluate_all(
            "all => all.map(path => Number(path.getAttribute('stroke-width')))"
        )
        assert widths == pytest.approx([0.8 + 11 * weight for weight in weights if weight >= 0.01], abs=0.01)
        assert len(widths) > 1
    finally:
        service.registry._models.pop("lstmn", None)


def test_every_head_has_its_attention_also_of_other_translations(page, url, service):
    known = service.registry["translate"].predictor
    attention = {"energy": "qkv", "heads": 2}
    decoder = {"kind": "luong", "cell": "lstm", "embedding_size": 6, "state_size": 16, "attention": attention}
    encoder = {"cell": "gru", "embedding_size": 6, "state_size": 8}
    config = TASKS["translate"].model_config().from_mapping({"encoder": encoder, "decoder": decoder}, "model")
    torch.manual_seed(4)
    model = Seq2Seq(config, known.source_tokenizer.size, known.target_tokenizer.size).eval()
    with torch.no_grad():  # so that attention depends on the words
        for parameter in model.parameters():
            parameter.mul_(4)
    heads = Translator(model, known.source_tokenizer, known.target_tokenizer)
    service.registry.add("heads", heads)
    try:
        open_studio(page, url, model="heads")
        best = heads.translate([TEXT], beam=5, n_best=5)[0]
        alphas = [
            np.stack([step.values["alpha"] for step in heads.trace(TEXT, each.text)["decoder"].steps])
            for each in (best, *best.alternatives)
        ]
        other = next(
            rank
            for rank, alpha in enumerate(alphas)
            if alpha.shape != alphas[0].shape or abs(alpha - alphas[0]).max() > 0.05
        )
        for rank in (0, other):
            page.locator("#best button").nth(rank).click()
            alpha = alphas[rank]
            for head in (1, 2):
                page.get_by_role("radio", name=f"Head {head}").click()
                page.wait_for_selector(f"#panel[aria-busy=false] [aria-checked=true]:text-is('Head {head}')")
                wanted = alpha[:, head - 1].flatten()
                page.wait_for_function(
                    "n => document.querySelectorAll('.heatmap .cell').length === n", arg=wanted.size
                )
                cells = page.locator(".heatmap .cell").evaluate_all(
                    "all => all.map(cell => cell.getAttribute('fill-opacity'))"
                )
                assert [float(cell) for cell in cells] == pytest.approx(wanted.tolist(), abs=0.002)
            page.get_by_role("radio", name="Mean").click()
        page.get_by_role("tab", name="Step by step").click()  # the steps are those of the chosen translation
        page.wait_for_selector(".steps h2")
        assert f"/{len(alphas[other])}" in page.locator(".steps h2").inner_text()
    finally:
        del service.registry._models["heads"]


def test_both_sides_are_typed_and_aligned(page, url, service):
    open_studio(page, url, view="align")
    predictor = service.registry["translate"].predictor
    field = page.get_by_role("textbox", name="Its translation")
    assert field.input_value() == expected(service).text
    field.fill("the cat sings .")
    field.press("Enter")
    (pair,) = predictor.align([TEXT], ["the cat sings ."])
    page.get_by_text(f"log p {pair.log_prob:.2f}".replace("-", "−")).wait_for()
    cells = page.locator(".heatmap .cell").evaluate_all(
        "all => all.map(cell => cell.getAttribute('fill-opacity'))"
    )
    assert [float(cell) for cell in cells] == pytest.approx(pair.alpha.flatten().tolist(), abs=0.002)
    words = page.locator(".align .cells-line small").all_inner_texts()
    assert words == ["the", "cat", "sings", ".", "</s>"]
    assert parse_qs(urlparse(page.url).query)["target"] == ["the cat sings ."]
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.get_by_role("textbox", name="Its translation").input_value() == "the cat sings ."
    page.get_by_role("button", name="The model's own").click()
    page.wait_for_function(
        "text => document.querySelector('#target').value === text", arg=expected(service).text
    )
    assert "target" not in parse_qs(urlparse(page.url).query)
    field.fill("")
    field.press("Enter")
    page.get_by_text("Type a translation, and see how the model aligns it").wait_for()


def test_a_run_in_progress_shows_its_curves_outputs_and_attention(page, url, service, tmp_path):
    folder = make_run(tmp_path / "run", "translate")
    rows = [{"event": "train", "update": 10 * k, "loss": 5.0 / k, "seconds": k} for k in range(1, 4)]
    rows.append({"event": "validation", "update": 30, "wer": 0.25, "chrf": 40.0, "seconds": 3})
    (folder / "journal.jsonl").unlink()
    (folder / "log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    service.registry.load("growing", ModelEntry(str(folder)))
    weights = ModelFolder(folder)
    untrained = weights.load("last").model
    with torch.no_grad():
        for parameter in untrained.parameters():
            parameter.zero_()
    weights.write_weights("last", untrained, {"update": 10})
    try:
        open_studio(page, url, model="growing", view="training")
        curve = "figure[data-name='Training loss'] [data-model=growing] path"
        assert page.locator(curve).get_attribute("d").count("L") == 2
        errors = page.locator("figure[data-name='Validation WER (%)'] .readout").inner_text()
        assert "25.000 after 30" in errors
        assert "30 updates" in page.locator(".training .facts").inner_text()
        assert page.locator(".training h2").inner_text().endswith("after update 10")
        before = page.locator(".outputs li").first.inner_text()
        assert "reference: " in before
        with (folder / "log.jsonl").open("a") as file:
            file.write(json.dumps({"event": "train", "update": 40, "loss": 1.0, "seconds": 4}) + "\n")
        weights.write_weights("last", weights.load("best").model, {"update": 40})
        page.wait_for_function(
            "() => document.querySelector('.training .facts').textContent.includes('40 updates')"
        )
        page.wait_for_function(
            "() => document.querySelector('.training h2').textContent.endsWith('after update 40')"
        )
        assert page.locator(curve).get_attribute("d").count("L") == 3
        text, output = page.locator(".outputs li").first.locator("p").all_inner_texts()[:2]
        (translation,) = service.registry["translate"].predictor.translate([text])
        assert output.strip() == translation.text
        cells = page.locator(".outputs .heatmap .cell").evaluate_all(
            "all => all.map(cell => cell.getAttribute('fill-opacity'))"
        )
        assert [float(cell) for cell in cells] == pytest.approx(
            translation.alpha.flatten().tolist(), abs=0.002
        )
        page.get_by_role("radio", name="10", exact=True).click()  # what it made of them before
        page.wait_for_function("text => document.querySelector('.outputs li').innerText === text", arg=before)
        runs = page.get_by_role("group", name="Runs")
        assert page.locator("figure[data-name='Training loss'] .curve").count() == 2
        runs.get_by_label("translate").uncheck()
        assert page.locator("figure[data-name='Training loss'] .curve").count() == 1
        page.locator("figure[data-name='Training loss'] svg").hover(position={"x": 60, "y": 60})
        assert "5.000 after 10" in page.locator("figure[data-name='Training loss'] .readout").inner_text()
    finally:
        del service.registry._models["growing"]


def test_the_newest_weights_are_loaded_into_all_views(page, url, service, tmp_path):
    folder = make_run(tmp_path / "run", "translate")
    service.registry.load("run", ModelEntry(str(folder)))
    weights = ModelFolder(folder)
    other = weights.load("best").model
    with torch.no_grad():
        other.decoder.embedding.E.mul_(-1)
    for name in ("best", "last"):
        weights.write_weights(name, other, {"update": 9000})
    try:
        open_studio(page, url, model="run", view="training")
        assert "update 120" in page.locator("#facts").inner_text()
        page.get_by_role("button", name="Load the newest weights").click()
        page.wait_for_function("() => document.querySelector('#facts').textContent.includes('update 9,000')")
        page.wait_for_selector("body[data-ready]")
        assert page.get_by_role("button", name="Load the newest weights").count() == 0
        text = Translator.load(folder).translate([TEXT], beam=5)[0].text
        assert page.locator("#answer").inner_text() == text
        sent = page.request.post(
            f"{url}v1/models/run/renew", headers={"Content-Type": "text/plain"}, data="{}"
        )
        assert sent.status == 415  # as a form of another site would send it
        assert page.request.post(f"{url}v1/models/run/renew").status == 422
    finally:
        del service.registry._models["run"]


@pytest.mark.parametrize(
    ("model", "shown"), [("lm", "Sampled lines"), ("classify", "validation"), ("tag", "validation")]
)
def test_outputs_of_the_other_tasks(page, url, model, shown):
    open_studio(page, url, model=model, text="the film", view="training")
    assert shown in page.locator(".training h2").inner_text()
    assert page.locator(".outputs li").count() == 6


def test_the_lab_shows_its_verdicts_and_figures_and_no_other_file(page, url):
    open_studio(page, url, view="lab")
    section = page.get_by_role("region", name="How long a lag")
    assert "held" in section.inner_text()
    page.wait_for_function("() => document.querySelector('.lab img').naturalWidth === 40")
    assert section.get_by_role("img").get_attribute("alt") == "Accuracy by lag"
    for path in (
        "lab/lag/result.svg",
        "lab/half/lags.svg",
        "lab/lag/..%2f..%2flags.svg",
        "lab/..%2flag/lags.svg",
    ):
        assert page.request.get(url + path).status == 404, path
    for path in ("lab/lag/result.json", "..%2fapp.py", "%2e%2e/app.py"):
        assert page.request.get(url + path).status == 404, path


def test_principal_components_are_those_of_the_singular_values(page, url):
    open_studio(page, url)
    rows = np.random.default_rng(1).normal(size=(7, 5))
    found = page.evaluate("async rows => (await import('./neighbours.js')).principal(rows)", rows.tolist())
    _, values, _ = np.linalg.svd(rows - rows.mean(axis=0))
    assert found["shares"] == pytest.approx((values**2 / (values**2).sum())[:2].tolist(), abs=1e-6)


def test_sentences_are_sampled_word_by_word_and_branch_at_any(page, url):
    open_studio(page, url, model="lm", text="the")
    page.wait_for_selector(".lines li .facts")
    first = page.locator(".lines li").first.inner_text()
    assert first.startswith("the")
    page.get_by_role("slider", name="Temperature").press("Home")
    page.get_by_role("button", name="Sample", exact=True).click()
    page.wait_for_function("() => document.querySelectorAll('.lines li .facts').length === 2")
    page.locator(".lines li").first.locator(".token").first.click()
    choices = page.locator(".menu .bars button:not(:disabled)")
    word = choices.nth(1).locator(".name").inner_text()
    choices.nth(1).click()
    page.wait_for_function("() => document.querySelectorAll('.lines li .facts').length === 3")
    assert page.locator(".lines li .prompt").first.inner_text().strip() == f"the {word}"
    assert (
        page.evaluate(
            "performance.getEntriesByType('resource').filter(e => e.name.endsWith('v1/sample')).length"
        )
        == 3
    )


def test_a_classifier_shows_probabilities_and_a_tagger_tags(page, url, service):
    open_studio(page, url, model="classify", text="a fine film .")
    (result,) = service.registry["classify"].predictor.classify(["a fine film ."])
    assert page.locator(".bars .name").first.inner_text() == result.label
    page.get_by_label("Model").select_option("tag")
    page.wait_for_selector(".tags")
    (tagging,) = service.registry["tag"].predictor.tag(["a fine film ."])
    assert page.locator(".tags .tag").all_inner_texts() == list(tagging.tags)


def test_text_from_right_to_left_and_words_that_are_not_known(page, url):
    text = "هل تريد الجزرة"
    open_studio(page, url, text=text)
    direction = "element => getComputedStyle(element).direction"
    assert page.locator("#text").evaluate(direction) == "rtl"
    assert page.locator("#answer").evaluate(direction) == "ltr"
    for view in ("attention", "whatif"):
        page.locator(f"#tab-{view}").click()
        page.wait_for_selector(
            f"#panel[aria-labelledby=tab-{view}][aria-busy=false] .links [data-side=source]"
        )
        shown = page.locator(".links [data-side=source] .word").all_text_contents()
        assert shown[:3] == text.split(), view  # and not <unk>
    first, second = page.get_by_role("group", name="Source words").get_by_role("button").all()[:2]
    assert first.bounding_box()["x"] > second.bounding_box()["x"]


def test_a_long_text_is_drawn_whole(page, url):
    text = " ".join([TEXT] * 15)
    open_studio(page, url, text=text)
    assert "long" in page.locator("#text").get_attribute("class")
    columns = len(text.split()) + 1
    assert page.locator(".heatmap .word").count() >= columns
    heat, links = (page.locator(f"svg.{name}").bounding_box() for name in ("heatmap", "links"))
    assert links["y"] > heat["y"] + heat["height"]  # one below the other
    box = page.locator("#text").evaluate("field => [field.scrollHeight, field.clientHeight]")
    assert box[0] <= box[1] + 2  # all lines are seen
    for view in ("steps", "beam", "states"):
        page.locator(f"#tab-{view}").click()
        page.wait_for_selector("#panel figure")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, view


def test_everything_can_be_done_with_the_keyboard(page, url, service):
    page.goto(f"{url}?model=translate")
    page.wait_for_selector("body[data-ready]")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the view"
    for _ in range(12):
        if page.evaluate("document.activeElement.id") == "text":
            break
        page.keyboard.press("Tab")
    page.keyboard.type(TEXT)
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel svg")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#best') !== null")
    page.keyboard.press("Enter")
    page.wait_for_selector("#best li:nth-child(2) [aria-pressed=true]")
    page.locator("#tab-attention").focus()
    for name in ("Step by step", "Beam search", "What if", "Align", "States", "Neighbours", "Training"):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.textContent") == name
        page.wait_for_selector(f"#panel[aria-labelledby='{page.evaluate('document.activeElement.id')}']")
    page.locator("#save summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.closest('#save') !== null")
    assert page.locator("#saves").is_hidden()


def test_light_and_dark_follow_the_system_and_the_button(page, url):
    page.emulate_media(color_scheme="dark")
    open_studio(page, url)
    paper = "() => getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    page.get_by_role("button", name="Use light colours").click()
    light = page.evaluate(paper)
    fill = "shape => getComputedStyle(shape).fill"
    colours = [page.locator(f".heatmap .{part}").first.evaluate(fill) for part in ("sheet", "cell")]
    assert colours == ["rgb(255, 255, 255)", "rgb(27, 27, 26)"]
    assert sum(map(int, re.findall(r"\d+", dark))) < 150 < 600 < sum(map(int, re.findall(r"\d+", light)))
    page.get_by_role("button", name="Use dark colours").click()
    assert page.evaluate(paper) == dark
    again = [page.locator(f".heatmap .{part}").first.evaluate(fill) for part in ("sheet", "cell")]
    assert again == colours, "the greater weight is darker on a dark page, too"


def saved(page, name):
    page.locator("#save summary").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=name, exact=True).click()
    return download.value.path().read_bytes()


def test_what_is_seen_is_saved_and_the_saved_page_works_without_a_server(
    page, url, service, tmp_path, browser
):
    open_studio(page, url)
    picture = saved(page, "Heat map, SVG").decode()
    assert picture.startswith("<svg")
    assert "var(" not in picture
    assert ">schläft<" in picture
    assert saved(page, "Links, PNG").startswith(b"\x89PNG")
    answers = json.loads(saved(page, "All answers, JSON"))
    assert {"translate", "models"} <= {each["operation"] for each in answers}
    page.get_by_role("tab", name="Beam search").click()
    page.wait_for_selector(".tree")
    file = tmp_path / "page.html"
    file.write_bytes(saved(page, "This page, HTML"))
    context = browser.new_context(offline=True)
    other = context.new_page()
    addresses = []
    other.on("request", lambda request: addresses.append(request.url))
    other.goto(file.as_uri())
    other.wait_for_selector(".tree")
    other.get_by_role("tab", name="Attention").click()
    other.locator(".links [data-side=target]").first.hover()
    assert other.locator("#answer").inner_text() == expected(service).text
    assert "←" in other.locator(".attention .readout").inner_text()
    assert [each for each in addresses if not each.startswith(("file:", "data:", "blob:"))] == []
    context.close()


def test_a_search_that_was_seen_is_saved_with_the_page_and_a_map_as_pixels(page, url, tmp_path, browser):
    open_studio(page, url, view="states")
    page.get_by_label("First word").select_option("1")
    page.get_by_role("slider", name="Threshold").fill("0.1")
    before = found_texts(page)
    pixels = np.asarray(Image.open(io.BytesIO(saved(page, "Decoder: state, PNG"))).convert("RGB")).reshape(
        -1, 3
    )
    assert (
        len(np.unique(pixels[np.ptp(pixels.astype(int), axis=1) > 60], axis=0)) > 10
    )  # not only ink and paper
    file = tmp_path / "page.html"
    file.write_bytes(saved(page, "This page, HTML"))
    context = browser.new_context(offline=True)
    other = context.new_page()
    other.goto(file.as_uri())
    other.wait_for_selector(".states")
    other.get_by_label("First word").select_option("1")
    other.get_by_role("slider", name="Threshold").fill("0.1234")  # which was never searched
    other.get_by_text("Other sentences were not searched when this page was saved").wait_for()
    other.get_by_role("slider", name="Threshold").fill("0.1")
    other.wait_for_selector(".matches li")
    assert found_texts(other) == before
    context.close()


def test_what_is_typed_is_text_and_an_error_is_said(page, url):
    markup = "<img src=x onerror=document.title=1><b>der</b> hund"
    open_studio(page, url, text=markup)
    assert page.locator("main img").count() == 0
    assert page.title() == f"{markup} · Regard"
    page.locator("#text").fill("x" * 10_001)
    page.locator("#text").press("Enter")
    page.wait_for_selector("#problem:not([hidden])")
    assert "10000" in page.locator("#problem").inner_text()


def test_a_view_that_takes_long_says_so(page, url):
    open_studio(page, url)
    held = []
    page.route("**/v1/tree", lambda route: held.append(route))
    page.locator("#tab-beam").click()
    page.get_by_text("Computing …").wait_for()
    assert page.locator("#panel svg").count() == 0
    held[0].continue_()
    page.wait_for_selector(".tree .node")


def test_a_service_that_has_gone_is_said(page, url):
    open_studio(page, url)
    page.route(
        "**/v1/tree",
        lambda route: route.fulfill(
            status=503, json={"error": {"code": "overloaded", "message": "try again later"}}
        ),
    )
    page.locator("#tab-beam").click()
    assert page.locator("#panel").get_by_role("alert").inner_text() == "try again later"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("model", VIEWS)
def test_every_view_fits_every_width_and_is_accessible(page, url, axe, model, scheme):
    page.emulate_media(color_scheme=scheme)
    open_studio(page, url, model, TEXT)
    page.evaluate(axe)
    for view in VIEWS[model]:
        page.locator(f"#tab-{view}").click()
        page.wait_for_selector("#panel figure, #panel .lines .facts, #panel .whatif .side")
        if view == "beam":
            page.locator(".tree .node").first.click()
        if view == "whatif":
            page.locator(".whatif .token").first.click()
        if view == "states":
            page.get_by_label("First word").select_option("1")
            page.get_by_role("slider", name="Threshold").fill("0.01")
        if view in ("states", "neighbours"):
            page.wait_for_selector(".results-of-search[aria-busy=false] .matches")
        for width in (390, 900, 1600):
            page.set_viewport_size({"width": width, "height": 900})
            overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert overflow <= 0, (view, width)
        assert page.locator("#panel .error, #problem:visible").count() == 0, view
        if model in ("translate", "lm") or view == "labels":
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
            assert [(each["id"], [n["html"][:120] for n in each["nodes"][:3]]) for each in found] == [], view


def test_the_page_is_light_and_of_one_origin(page, url):
    sizes, origins = [], set()
    page.on(
        "response",
        lambda response: (sizes.append(len(response.body())), origins.add(urlparse(response.url).netloc)),
    )
    open_studio(page, url)
    assert origins == {urlparse(url).netloc}
    assert sum(sizes) < 500_000
    policy = page.request.get(url).headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert page.evaluate("document.querySelectorAll('script:not([src]), style, [style]').length") < 3
