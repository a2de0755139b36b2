"""Methods for microdata, one file each. A new one is imported here, and is then known everywhere."""

from suffice.microdata.ipso import Ipso

__all__ = [
    "Ipso",
]
