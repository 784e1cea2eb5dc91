"""Runs a model step by step on its naive path, and gives what it computed as the sections of a `Trace`.

In: a network of any task, ids, and the tokens they stand for. Out: sections with every part that the equations
record (`ops/record.py`): nothing is computed here but what the network itself computes. One sentence at a time.
"""

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regard.batches import pad_sources, pad_texts, pad_words
from regard.config import one_of
from regard.layers import Cell, SelfAttentive
from regard.layers.recurrent import EQUATIONS as LAYER_EQUATIONS
from regard.models import (
    CaptionerNetwork,
    ClassifierNetwork,
    Decoder,
    EncodedSource,
    LanguageModelNetwork,
    Seq2Seq,
    TaggerNetwork,
)
from regard.models.classifier import BETWEEN_TEXTS
from regard.models.encoder import Encoder
from regard.ops.paths import naive_only
from regard.ops.record import LETTERS, Equation, Letters, Place, Recorded, record, recording, scope
from regard.tasks.trace import Numbers, Trace, TracedPart, TracedSection, TracedStep
from regard.text.specials import BOS

DTYPES = ("float32", "float64")

Tokens = Callable[[Sequence[int]], Sequence[str]]
"""Ids → what people read."""

_NUM_CANDIDATES = 10
_PROBABILITIES = Equation("p(y_t) = softmax(o_t)", "p_t = softmax(o_t)", "words")
_ANNOTATIONS = {
    "annotation": Equation("h_j = [→h_j; ←h_j]"),
    "copied": Equation("s_0 = ⟨start⟩"),
    "zero": Equation("c_0 = 0"),
    "copied_memory": Equation("c_0 = c_{T_x}"),
}
_READER = Letters(state="h", readout="h_t", source="h_j")
_PAST = Letters(source="h_i", query="q_t")


@contextmanager
def traced_model(model: nn.Module, dtype: str) -> Iterator[Any]:
    """The model, or a copy of it in another precision, on its naive path and without gradients.

    Args:
        model: in evaluation mode.
        dtype: ``float32`` or ``float64``.

    Raises:
        ConfigError: another precision.
    """
    one_of("dtype", dtype, DTYPES)
    wanted = getattr(torch, dtype)
    if any(parameter.dtype != wanted for parameter in model.parameters()):
        model = copy.deepcopy(model).to(wanted)
    with torch.inference_mode(), naive_only():
        yield model


Write = Callable[[Place, Equation, str], str]
"""(place, equation, letters) → the equation as this section writes it."""


@dataclass
class _Section:
    """A section while it is made: parts in the order in which they first appear."""

    write: Write
    layered: bool = False
    parts: dict[str, TracedPart] = field(default_factory=dict)

    def add(self, values: dict[str, Numbers], recorded: Recorded, value: Tensor) -> None:
        """Add a part's value at a step, without batch."""
        scopes = [name for name, _ in recorded.place]
        inside = next((name for name in ("past", "source") if name in scopes), "")
        if inside and recorded.name == "context":
            return  # the cell's own summary
        layer = next((index + 1 for name, index in recorded.place if name == "layer"), None)
        prefix = f"layer{layer}." if self.layered and layer is not None else ""
        key = prefix + (f"{inside}.{recorded.name}" if inside else recorded.name)
        axis = recorded.equation.axis
        if inside and axis in ("source", "past"):
            axis = "past" if inside == "past" else "source"
        if key not in self.parts:
            equations = {
                letters: self.write(recorded.place, recorded.equation, letters) for letters in LETTERS
            }
            self.parts[key] = TracedPart(key, recorded.name, layer, axis, equations)
        assert key not in values, f"two parts of a step are called {key}"
        array = np.asarray(value.cpu())
        while array.ndim > 1 and array.shape[0] == 1:
            array = array[0]
        if axis == "number":
            array = array.reshape(-1)[:1]
        values[key] = array

    def make(
        self, key: str, title: str, steps: Iterable[TracedStep], source: Sequence[str] = ()
    ) -> TracedSection:
        """The finished section, its steps cut to the past that they have."""
        cut = tuple(replace(step, values=self._cut(step)) for step in steps)
        parts = tuple(self.parts.values())
        if any(part.name == "output_gate" for part in parts):
            parts = tuple(_rename_logits(part) for part in parts)
        return TracedSection(key, title, parts, cut, tuple(source))

    def _cut(self, step: TracedStep) -> Mapping[str, Numbers]:
        """An empty tape is read as one masked slot, which is not shown."""
        width = len(step.past)
        return {
            key: value[..., :width] if self.parts[key].axis == "past" else value
            for key, value in step.values.items()
        }


def _rename_logits(part: TracedPart) -> TracedPart:
    """The logits are l where o is an output gate."""
    if part.name not in ("logits", "probabilities"):
        return part
    written = {
        letters: re.sub(r"(?<!\w)(o_|[Wb]_o)", _logit, text) for letters, text in part.equations.items()
    }
    return replace(part, equations=written)


def _logit(match: re.Match[str]) -> str:
    return match[0].replace("o", "l")


def write_reader(place: Place, equation: Equation, letters: str) -> str:
    """An equation of a cell that reads: with arrows where it is one direction of two."""
    text = _text(equation, letters)
    scopes = [name for name, _ in place]
    if "past" in scopes and "j" in text:
        return _write_past(text)
    if "backward" in scopes:
        text = text.replace("{t−1}", "{t+1}")
    for name, arrow in (("forward", "→"), ("backward", "←")):
        if name in scopes:
            text = re.sub(r"(?<!\w)h(?=\u0303?_(t|\{t))", f"{arrow}h", text)
    return text


def _without_biases(write: Write, cells: Sequence[Cell]) -> Write:
    """The same, but for cells without biases, whose equations have no b."""

    def written(place: Place, equation: Equation, letters: str) -> str:
        text, layer = write(place, equation, letters), dict(place).get("layer")
        if layer is None or cells[layer].bias or "_0" in text:
            return text
        return re.sub(r" \+ b(_\w)?(?!\w)", "", text)

    return written


def _write_past(text: str) -> str:
    """The equation of an attention layer where it is a cell's, to its own past: the query comes projected."""
    return _PAST.write(re.sub(r"W_\w s_\{t−1\}", "q_t", text))


def _write_fused(text: str) -> str:
    """The energies of deep fusion to the source, which are those of an own past over another tape."""
    for ours, paper in (
        ("a^t_i", "b^t_j"),
        ("e_i", "b^t_j"),
        ("W_h h_i", "W_γ γ_j"),
        ("v", "u"),
        ("k_i", "k_j"),
    ):
        text = text.replace(ours, paper)
    return re.sub("q(?=_t)", "q′", text)


def _text(equation: Equation, letters: str) -> str:
    return equation.slides or equation.papers if letters == "slides" else equation.papers


def _write_decoder(decoder: Decoder, bidirectional: bool) -> Write:
    """How a decoder's equations are written, those of its cells and the others."""
    by_letters = {letters: decoder.letters(letters) for letters in LETTERS}

    def write(place: Place, equation: Equation, letters: str) -> str:
        text, rules = _text(equation, letters), by_letters[letters]
        scopes = dict(place)
        if "past" in scopes and "j" in text:
            return _write_past(text)
        if "source" in scopes and equation.axis == "past":
            return _write_fused(text)
        if "layer" not in scopes or "s_0" in text:
            return _write_start(rules.write(text), bidirectional) if "_0" in text else rules.write(text)
        if scopes["layer"]:  # it reads the layer below
            rules = replace(rules, word="x_t", term="")
        return _write_start(rules.write_cell(text), bidirectional)

    return _without_biases(write, decoder.stack.layers)


def _write_start(text: str, bidirectional: bool) -> str:
    """The encoder's last states, of both its directions or of one."""
    if not bidirectional:
        return text.replace("←h_1", "h_{T_x}")
    return re.sub(r"(?<!→)([hc])_\{T_x\}", r"[→\1_{T_x}; ←\1_1]", text)


def _write_top(place: Place, equation: Equation, letters: str) -> str:
    """An equation of a reader's output, or of a cell of a language model."""
    text = _text(equation, letters)
    if any(name == "layer" for name, _ in place):
        return write_reader(place, equation, letters)
    return _READER.write(text)


def reader_sections(
    recorded: Sequence[Recorded],
    tokens: Sequence[str],
    cells: Sequence[Cell],
    reverse: bool,
    name: str,
    title: str,
) -> list[TracedSection]:
    """A section for each layer and direction of a stack that read a sequence.

    Args:
        recorded: what it computed.
        tokens: what it read.
        cells: a cell of each layer, bottom first.
        reverse: whether it read from the last token to the first.
        name: the sections' key begins with it.
        title: the sections' title begins with it.
    """
    groups: dict[tuple[int, str], list[Recorded]] = {}
    for part in recorded:
        scopes = dict(reversed(part.place))  # the outermost layer counts
        if "layer" in scopes:
            direction = "backward" if "backward" in scopes else "forward" if "forward" in scopes else ""
            groups.setdefault((scopes["layer"], direction), []).append(part)
    sections = []
    for (layer, direction), parts in groups.items():
        backward = direction == "backward" or reverse
        order = [*range(len(tokens))][:: -1 if backward else 1]
        section = _Section(_without_biases(write_reader, cells))
        steps = []
        for count, t in enumerate(order):
            values: dict[str, Numbers] = {}
            own = [part for part in parts if dict(part.place).get("step") == t]
            whole = {part.name: part for part in parts if "step" not in dict(part.place)}
            for each in ("input", "below"):
                if each in whole:
                    section.add(values, whole[each], whole[each].value[:, t])
            for part in own:
                section.add(values, part, part.value)
            for each in ("state", "output"):
                if each in whole and each not in values:
                    section.add(values, whole[each], whole[each].value[:, t])
            written = [tokens[k] for k in order[: count + _own_slot(cells[layer])]]
            steps.append(TracedStep(t, tokens[t], values, _slots(values, written)))
        where = f", layer {layer + 1}" if len(cells) > 1 else ""
        read = f", {direction}" if direction else ", read from the end" if reverse else ""
        key = ".".join(
            [name, *([str(layer + 1)] if len(cells) > 1 else []), *([direction] if direction else [])]
        )
        sections.append(section.make(key, f"{title}{where}{read}", steps))
    return sections


def _own_slot(cell: Cell) -> int:
    """Whether a step reads the slot that it has just written."""
    return int(isinstance(cell, SelfAttentive) and not cell.attends_first)


def _slots(values: Mapping[str, Numbers], written: Sequence[str]) -> tuple[str, ...]:
    """The tokens of the slots that a step attended to: the last ones written."""
    widths = [value.shape[-1] for key, value in values.items() if key.endswith("past.alpha")]
    width = min(max(widths, default=0), len(written))
    return tuple(written[len(written) - width :])


def _encoder_sections(
    encoder: Encoder, recorded: Sequence[Recorded], tokens: Sequence[str]
) -> list[TracedSection]:
    cells = [module for module in encoder.stack.modules() if isinstance(module, Cell)]  # forward ones first
    cells = cells[: len(cells) // encoder.stack.num_directions]
    return reader_sections(recorded, tokens, cells, encoder.reverse, "encoder", "Encoder")


def _whole(name: str, equation: Equation, value: Tensor) -> Recorded:
    return Recorded((), name, equation, value)


def _annotation_section(
    model: Seq2Seq, encoded: EncodedSource, tokens: Sequence[str], write: Write
) -> list[TracedSection]:
    """The annotations of a bidirectional encoder, and their keys and values, where they are not the states."""
    attention = model.decoder.attention
    parts = []
    if encoded.backward_last:
        parts.append(_whole("annotation", _ANNOTATIONS["annotation"], encoded.annotations))
    if attention is not None and encoded.keys is not None and encoded.keys is not encoded.annotations:
        parts.append(_whole("keys", attention.written()["keys"], encoded.keys))
    if attention is not None and encoded.values is not None and "values" in attention.equations:
        parts.append(_whole("values", attention.written()["values"], encoded.values))
    if not parts:
        return []
    section = _Section(write)
    steps = []
    for j, token in enumerate(tokens):
        values: dict[str, Numbers] = {}
        for part in parts:
            section.add(values, part, part.value[:, j])
        steps.append(TracedStep(j, token, values))
    return [section.make("annotations", "Annotations", steps)]


def _candidates(
    log_probs: Tensor, tokens: Tokens, count: int = _NUM_CANDIDATES
) -> tuple[tuple[str, float], ...]:
    best, ids = log_probs.double().exp().topk(min(count, len(log_probs)))
    return tuple(zip(tokens(ids.tolist()), best.tolist(), strict=True))


def _decoder_sections(
    decoder: Decoder,
    encoded: EncodedSource,
    target_ids: Sequence[int],
    tokens: Tokens,
    source: Sequence[str],
    write: Write,
) -> list[TracedSection]:
    """The initial state, and a step for each of the given words, the last of them EOS."""
    layers = decoder.stack.layers
    layered = len(layers) > 1
    with recording() as recorded:
        state = decoder.initial_state(encoded)
    start = _Section(write, layered)
    values: dict[str, Numbers] = {}
    for k, (cell, parts) in enumerate(zip(layers, state.cells, strict=True)):
        place: Place = (("layer", k),)
        own = [part for part in recorded if part.place == place] or [
            Recorded(place, "state", _ANNOTATIONS["copied"], parts[0])
        ]
        for part in own:
            start.add(values, part, part.value)
        if cell.num_parts > 1:
            equation = _ANNOTATIONS["copied_memory" if parts[1].any() else "zero"]
            start.add(values, Recorded(place, "memory", equation, parts[1]), parts[1])
    sections = [start.make("start", "Initial state", [TracedStep(0, "", values)])]
    section = _Section(write, layered)
    previous, steps, read = BOS, [], ["s_0"] if isinstance(layers[0], SelfAttentive) else []
    for i, target in enumerate(target_ids):
        ids = torch.tensor([previous], device=encoded.mask.device)
        with recording() as recorded:
            output = decoder.step(ids, state, encoded)
        steps.append(
            _predicting(section, recorded, output.logits, i, (previous, target), read, layers[0], tokens)
        )
        state, previous = output.state, target
    return [*sections, section.make("decoder", "Decoder", steps, source)]


def _predicting(
    section: _Section,
    recorded: Sequence[Recorded],
    logits: Tensor,
    position: int,
    ids: tuple[int, int],
    read: list[str],
    cell: Cell,
    tokens: Tokens,
) -> TracedStep:
    """A step that reads a word and predicts the next.

    Args:
        section: to which it belongs.
        recorded: what it computed.
        logits: (1, V).
        position: its number, from 0.
        ids: the word read and the word predicted.
        read: the tokens of all slots before it; its own is added.
        cell: of the bottom layer.
        tokens: ids → tokens.
    """
    token, predicted = (tokens([id_])[0] for id_ in ids)
    log_probs = logits[0].log_softmax(dim=-1)
    values = _step_values(section, recorded, log_probs)
    before = list(read)
    read.append(token)
    return TracedStep(
        position=position,
        token=token,
        values=values,
        past=_slots(values, read if _own_slot(cell) else before),
        output=predicted,
        probability=float(log_probs[ids[1]].double().exp()),
        candidates=_candidates(log_probs, tokens),
    )


def _step_values(section: _Section, recorded: Sequence[Recorded], log_probs: Tensor) -> dict[str, Numbers]:
    """What a step computed, and at the end its probabilities, if it did not compute them itself."""
    values: dict[str, Numbers] = {}
    for part in recorded:
        if part.name == "logits" and part.value.dim() > 2:
            continue  # one row of logits for each source word, summed out
        section.add(values, part, part.value)
    if "probabilities" not in values:
        section.add(values, _whole("probabilities", _PROBABILITIES, log_probs), log_probs.exp())
    return values


def trace_translation(
    model: Seq2Seq,
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    source_tokens: Sequence[str],
    tokens: Tokens,
) -> list[TracedSection]:
    """Encoder, annotations, initial state and decoder.

    Args:
        model: from `traced_model`.
        source_ids: without EOS.
        target_ids: with EOS.
        source_tokens: with EOS.
        tokens: target ids → tokens.
    """
    batch = pad_sources([source_ids]).to(model.decoder.embedding.E.device)
    with recording() as recorded:
        encoded = model.encode(batch.source_ids, batch.source_mask)
    write = _write_decoder(model.decoder, bool(encoded.backward_last))
    return [
        *_encoder_sections(model.encoder, recorded, source_tokens),
        *_annotation_section(model, encoded, source_tokens, write),
        *_decoder_sections(model.decoder, encoded, target_ids, tokens, source_tokens, write),
    ]


def trace_caption(
    model: CaptionerNetwork, features: Tensor, target_ids: Sequence[int], tokens: Tokens
) -> list[TracedSection]:
    """The projection of the features (1, f), the initial state and the decoder; arguments as for translations."""
    with recording() as recorded:
        encoded = model.encode(features)
    section = _Section(_write_top)
    values: dict[str, Numbers] = {}
    for part in recorded:
        section.add(values, part, part.value)
    first = section.make("features", "Features", [TracedStep(0, "", values)])
    write = _write_decoder(model.decoder, False)
    return [first, *_decoder_sections(model.decoder, encoded, target_ids, tokens, (), write)]


def trace_text(model: LanguageModelNetwork, ids: Sequence[int], tokens: Tokens) -> list[TracedSection]:
    """A language model over given words.

    Args:
        model: from `traced_model`.
        ids: with EOS, without BOS.
        tokens: ids → tokens.
    """
    section = _Section(_without_biases(_write_top, model.stack.layers), len(model.stack.layers) > 1)
    cell, state = model.stack.layers[0], model.initial_state(1)
    previous, steps = BOS, []
    read: list[str] = []
    for t, target in enumerate(ids):
        with recording() as recorded:
            logits, state = model.step(torch.tensor([previous], device=model.embedding.E.device), state)
        steps.append(_predicting(section, recorded, logits, t, (previous, target), read, cell, tokens))
        previous = target
    return [section.make("language_model", "Language model", steps)]


def trace_classification(
    model: ClassifierNetwork,
    ids: Sequence[Sequence[int]],
    text_tokens: Sequence[Sequence[str]],
    labels: Sequence[str],
) -> list[TracedSection]:
    """Encoder and pooling of each text, and the probabilities of the labels.

    Args:
        model: from `traced_model`.
        ids: of each text, without EOS.
        text_tokens: of each text, with EOS.
        labels: by id.
    """
    device = model.encoder.embedding.E.device
    with recording() as recorded:
        logits, _ = model(pad_texts([ids]).to(device))
    sections: list[TracedSection] = []
    top = []
    for part in recorded:
        if not part.place:
            top.append(part)
    for k, tokens in enumerate(text_tokens):
        of_text = [part for part in recorded if ("text", k) in part.place]
        own = [part for part in of_text if BETWEEN_TEXTS not in part.place]
        between = [part for part in of_text if BETWEEN_TEXTS in part.place]
        found = _encoder_sections(model.encoder, own, tokens)
        if between:
            found.append(_between_section(between, tokens, text_tokens[1 - k]))
        pooling = _Section(_write_top)
        values: dict[str, Numbers] = {}
        for part in own:
            if part.place == (("text", k),) and part.name != "embedded":
                pooling.add(values, part, part.value)
        found.append(pooling.make("pooling", "Pooling", [TracedStep(0, "", values)], tokens))
        if len(text_tokens) > 1:
            found = [
                replace(each, key=f"text{k + 1}.{each.key}", title=f"Text {k + 1}: {each.title}")
                for each in found
            ]
        sections += found
    output = _Section(_write_label)
    log_probs = logits[0].log_softmax(dim=-1)
    values = _step_values(output, top, log_probs)
    candidates = _candidates(log_probs, lambda best: [labels[i] for i in best], len(labels))
    label, chance = candidates[0]
    step = TracedStep(0, "", values, (), label, chance, candidates)
    return [*sections, output.make("output", "Output", [step])]


def _between_section(
    recorded: Sequence[Recorded], tokens: Sequence[str], other_tokens: Sequence[str]
) -> TracedSection:
    """The attention of each word of a text to the other one."""
    section = _Section(_write_top)
    steps = []
    for t, token in enumerate(tokens):
        values: dict[str, Numbers] = {}
        for part in recorded:
            if part.name in ("energies", "alpha", "context"):
                section.add(values, part, part.value[:, t])
        steps.append(TracedStep(t, token, values))
    return section.make("between", "Attention to the other text", steps, other_tokens)


def _write_label(place: Place, equation: Equation, letters: str) -> str:
    """Of a classifier's head, which has no steps."""
    text = _write_top(place, equation, letters).replace("W_o h_t + b_o", "V v + c")
    return text.replace("p(y_t)", "p(y)").replace("o_t", "o").replace("p_t", "p").replace("V h_t", "V v")


def trace_tags(
    model: TaggerNetwork, ids: Sequence[int], tokens: Sequence[str], labels: Sequence[str]
) -> list[TracedSection]:
    """Encoder, and the probabilities of the tags at each word; arguments as for a classification, of one text."""
    device = model.encoder.embedding.E.device
    with recording() as recorded:
        logits = model(pad_words([ids]).to(device))  # (words, tags)
    output = _Section(_write_top)
    (produced,) = (part for part in recorded if part.name == "logits")
    steps = []
    for t, token in enumerate(tokens[: len(ids)]):
        log_probs = logits[t].log_softmax(dim=-1)
        values = _step_values(output, [replace(produced, value=produced.value[t : t + 1])], log_probs)
        candidates = _candidates(log_probs, lambda best: [labels[i] for i in best], len(labels))
        tag, chance = candidates[0]
        steps.append(TracedStep(t, token, values, (), tag, chance, candidates))
    sections = _encoder_sections(model.encoder, recorded, tokens)
    return [*sections, output.make("output", "Output", steps)]


def _parameters(cell: Cell, section: TracedSection, letters: str) -> dict[str, Numbers]:
    """A cell's parameters by name; their blocks by the letters of its equations: W_z, W_r, W."""
    own = {"S": "W_s" if letters == "slides" else "W_h̃", "attention.U_a": "W_h", "attention.v_a": "v"}
    terms = {"W": r"W(_\w)? x_t", "U": r"U(_\w)? [\[(ht]", "b": r"\+ b(_[^U])?(?![_\w])", "p": r"p(_\w) ∘"}
    n, named = cell.state_size, {}
    for name, parameter in cell.named_parameters():
        value = np.asarray(parameter.detach().cpu())
        texts = [part.equations["papers"] for part in section.parts if part.name != "query" and name in terms]
        found = [match[1] or "" for text in texts for match in re.finditer(terms[name], text)]
        if len(value[: cell.num_gates * n]) != len(found) * n:
            named[own.get(name, name).removeprefix("attention.")] = value
            continue
        for k, subscript in enumerate(found):
            named[f"{name}{subscript}"] = value[k * n : (k + 1) * n]
        if name == "W" and cell.query_width:
            named["W_x"] = value[len(found) * n :]
    return named


def trace_cell(
    cell: Cell, inputs: Tensor, tokens: Sequence[str] | None = None, *, letters: str = "papers"
) -> Trace:
    """A cell by itself over given inputs, from the zero state, with its parameters.

    Args:
        cell: a `Cell`; it is computed in its own precision.
        inputs: x_1 … x_T, (T, m).
        tokens: what the inputs are called; x_1 … x_T if None.
        letters: ``papers`` or ``slides``.
    """
    names = tuple(tokens or (f"x_{t + 1}" for t in range(len(inputs))))
    with torch.inference_mode(), naive_only(), recording() as recorded, scope("layer"):
        record(LAYER_EQUATIONS, input=inputs.unsqueeze(0))
        outputs, _ = cell(inputs.unsqueeze(0))
        record(LAYER_EQUATIONS, state=outputs)
    title = f"{type(cell).__name__}, {cell.input_size} inputs, {cell.state_size} units"
    sections = reader_sections(recorded, names, [cell], False, "cell", title)
    return Trace(
        task="cell",
        text=" ".join(names),
        tokens=names,
        output="",
        output_tokens=(),
        sections=tuple(sections),
        dtype=str(inputs.dtype).removeprefix("torch."),
        parameters=_parameters(cell, sections[0], letters),
        letters=letters,
    )
