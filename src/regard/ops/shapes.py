"""Shape annotations for tensors, such as ``Float[Tensor, "B Tx a"]``.

They are jaxtyping's where it is installed, as in the test run, which checks every annotated call. Elsewhere
they cost nothing: the annotation is the plain tensor type.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int
else:
    try:
        from jaxtyping import Bool, Float, Int
    except ImportError:

        class _Unchecked:
            def __class_getitem__(cls, item: tuple[Any, str]) -> Any:
                return item[0]

        Bool = Float = Int = _Unchecked

__all__ = ["Bool", "Float", "Int"]
