"""Records drawn anew from models of the original: the method, and the models, one file each, imported when used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from suffice.synthesis.cart import Cart
    from suffice.synthesis.kernel import Kernel
    from suffice.synthesis.linear import Linear
    from suffice.synthesis.logit import Logit
    from suffice.synthesis.multinomial import Multinomial
    from suffice.synthesis.ordered import Ordered
    from suffice.synthesis.synthesis import Synthesis

__all__ = ["Cart", "Kernel", "Linear", "Logit", "Multinomial", "Ordered", "Synthesis"]


def __getattr__(name: str) -> Any:
    """A model lies in the file that is named like it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{name.lower()}"), name)
