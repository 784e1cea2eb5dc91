"""Products of matrices by the C kernel, in float32 or with factors rounded to bfloat16."""

import torch
from torch import Tensor

from regard.ops.native.call import at, empty, kernels, plain
from regard.ops.shapes import Float


def product(
    left: Float[Tensor, "M K"],
    right: Float[Tensor, "K N"],
    bias: Float[Tensor, "N"] | None = None,
    *,
    narrow: bool = False,
    into: Float[Tensor, "M N"] | None = None,
    add: bool = False,
) -> Float[Tensor, "M N"]:
    """The product of two matrices, and a bias, in float32.

    A row of the result does not depend on the other rows, to the last bit.

    Args:
        left: float32, by any strides.
        right: float32, by any strides.
        bias: of any kind.
        narrow: round the factors to bfloat16, if the processor multiplies those; the sums stay float32.
        into: where to put the result, its rows without gaps.
        add: add to the contents of `into`.
    """
    (rows, inner), columns = left.shape, right.shape[1]
    out = empty(rows, columns) if into is None else into
    assert out.stride(1) == 1 or columns == 1, "the kernel writes whole rows"
    bias = None if bias is None else plain(bias)
    if rows and columns:
        library = kernels()
        library.regard_product(
            *(at(left), *left.stride(), at(right), *right.stride(), at(bias), at(out), out.stride(0)),
            *(
                rows,
                columns,
                inner,
                int(add),
                int(narrow and library.regard_narrow()),
                torch.get_num_threads(),
            ),
        )
    return out
