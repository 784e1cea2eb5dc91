"""The base of all networks, and the papers' rules for initialising them.

A network knows its configuration, from which an equal one can be built. The rule ``glorot`` keeps what the layers do
by themselves: Glorot's rule for matrices, orthogonal recurrent blocks, zero biases, forget gates with a bias of 1.
"""

import torch
from torch import Tensor, nn

from regard.config import Config
from regard.layers import Additive, Cell, Concat, SelfAttentive
from regard.models.decoders.deep_fusion import DeepFusionDecoder

_UNIFORM = {"zaremba": 0.05, "sutskever": 0.08, "luong": 0.1}
"""Rules that sample every parameter from U(−bound, bound), with the bound: Zaremba et al. 2014 (§4.1, medium),
Sutskever et al. 2014 (§3.4), Luong et al. 2015 (§4.1)."""

INITIALIZATIONS = ("glorot", "bahdanau", *_UNIFORM)


class Model(nn.Module):
    """Base of the networks of all tasks.

    Attributes:
        config: from which an equal network can be built.
    """

    config: Config

    @property
    def num_parameters(self) -> int:
        """The number of trained parameters, each shared one counted once."""
        return sum(parameter.numel() for parameter in self.parameters())


def initialize(model: nn.Module, rule: str) -> None:
    """Initialise a network's parameters by a paper's rule, in place.

    Args:
        model: a network of any task.
        rule: one of `INITIALIZATIONS`.
    """
    with torch.no_grad():
        if rule == "bahdanau":
            _bahdanau(model)
        elif rule in _UNIFORM:
            for parameter in model.parameters():
                nn.init.uniform_(parameter, -_UNIFORM[rule], _UNIFORM[rule])


def _bahdanau(model: nn.Module) -> None:
    """Bahdanau et al. 2015 (B.1): U orthogonal; W_a, U_a N(0, 0.001²); v_a, biases 0; rest N(0, 0.01²).

    Matrices that the paper does not have follow the rule of their counterparts. R of deep fusion is a recurrent block,
    a U. A matrix that makes queries or keys of an alignment model is a W_a or U_a: concat's W_a, and, in cells with a
    tape and in deep fusion, the matrices of the word (the last rows of W and of W_r) and of the summary (S, S_r).
    """
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=0.01)
        else:
            nn.init.zeros_(parameter)
    for module in model.modules():
        if isinstance(module, Cell):
            for block in torch.split(module.U, module.state_size):
                nn.init.orthogonal_(block)
            module.open_forget_gate()
        if isinstance(module, DeepFusionDecoder):
            nn.init.orthogonal_(module.R)
        for matrix in _aligning(module):
            nn.init.normal_(matrix, std=0.001)


def _aligning(module: nn.Module) -> list[Tensor]:
    """A module's own matrices of queries and keys, of energies with a tanh and of cells that attend to their past."""
    match module:
        case Additive():
            return [module.U_a] if module.W_a is None else [module.W_a, module.U_a]
        case Concat():
            return [module.W_a]
        case SelfAttentive(S=nn.Parameter() as S):
            return [S, module.W[-module.query_width :]]
        case DeepFusionDecoder():
            return [module.S_r, module.W_r[-module.S_r.shape[0] :]]
    return []
