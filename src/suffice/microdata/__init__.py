"""Methods for microdata, one file each. A new one is imported here, and is then known everywhere."""

from suffice.microdata.addition import Addition
from suffice.microdata.fitted import Fitted
from suffice.microdata.ipso import Ipso
from suffice.microdata.ipso_a import IpsoA
from suffice.microdata.ipso_b import IpsoB
from suffice.microdata.mixture import Mixture
from suffice.microdata.residual_correlation import ResidualCorrelation
from suffice.microdata.restore import Restore
from suffice.microdata.romm import Romm
from suffice.microdata.score_correlation import ScoreCorrelation

__all__ = [
    "Addition",
    "Fitted",
    "Ipso",
    "IpsoA",
    "IpsoB",
    "Mixture",
    "ResidualCorrelation",
    "Restore",
    "Romm",
    "ScoreCorrelation",
]
