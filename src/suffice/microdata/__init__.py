"""Methods for microdata, one file each, imported when used. An import line and a name here make a method known."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from suffice.microdata.addition import Addition
    from suffice.microdata.alpha_matrix import AlphaMatrix
    from suffice.microdata.blend import Blend
    from suffice.microdata.bootstrap import Bootstrap
    from suffice.microdata.distort import Distort
    from suffice.microdata.fitted import Fitted
    from suffice.microdata.householder import Householder
    from suffice.microdata.ipso import Ipso
    from suffice.microdata.ipso_a import IpsoA
    from suffice.microdata.ipso_b import IpsoB
    from suffice.microdata.latin_hypercube import LatinHypercube
    from suffice.microdata.loglinear import Loglinear
    from suffice.microdata.margins import Margins
    from suffice.microdata.micro_hybrid import MicroHybrid
    from suffice.microdata.microaggregate import Microaggregate
    from suffice.microdata.microaggregate_draws import MicroaggregateDraws
    from suffice.microdata.microaggregate_noise import MicroaggregateNoise
    from suffice.microdata.mixture import Mixture
    from suffice.microdata.moment_householder import MomentHouseholder
    from suffice.microdata.noise import Noise
    from suffice.microdata.optimise import Optimise
    from suffice.microdata.outliers_apart import OutliersApart
    from suffice.microdata.pca_mask import PcaMask
    from suffice.microdata.rank_swap import RankSwap
    from suffice.microdata.residual_correlation import ResidualCorrelation
    from suffice.microdata.resize import Resize
    from suffice.microdata.restore import Restore
    from suffice.microdata.reverse_map import ReverseMap
    from suffice.microdata.romm import Romm
    from suffice.microdata.rotate import Rotate
    from suffice.microdata.score_correlation import ScoreCorrelation
    from suffice.microdata.shuffle import Shuffle

__all__ = [
    "Addition",
    "AlphaMatrix",
    "Blend",
    "Bootstrap",
    "Distort",
    "Fitted",
    "Householder",
    "Ipso",
    "IpsoA",
    "IpsoB",
    "LatinHypercube",
    "Loglinear",
    "Margins",
    "MicroHybrid",
    "Microaggregate",
    "MicroaggregateDraws",
    "MicroaggregateNoise",
    "Mixture",
    "MomentHouseholder",
    "Noise",
    "Optimise",
    "OutliersApart",
    "PcaMask",
    "RankSwap",
    "ResidualCorrelation",
    "Resize",
    "Restore",
    "ReverseMap",
    "Romm",
    "Rotate",
    "ScoreCorrelation",
    "Shuffle",
]


def __getattr__(name: str) -> Any:
    """A method lies in the file that is named like it: IpsoA in ipso_a."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    file = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
    return getattr(import_module(f"{__name__}.{file}"), name)
