"""Statistical disclosure control that keeps statistics exact."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from suffice.catalogue import methods as methods
    from suffice.certificate.certificate import Certificate as Certificate
    from suffice.certificate.verification import Verification as Verification
    from suffice.certificate.verification import verify as verify
    from suffice.comparison.compare import compare as compare
    from suffice.comparison.comparison import Comparison as Comparison
    from suffice.design.roles import Roles as Roles
    from suffice.guards.finding import Finding as Finding
    from suffice.microdata import *  # noqa: F403
    from suffice.plan.plan import Plan as Plan
    from suffice.plan.proposal import Proposal as Proposal
    from suffice.plan.proposal import propose as propose
    from suffice.release.assess import assess as assess
    from suffice.release.inference import Inference as Inference
    from suffice.release.pool import pool as pool
    from suffice.release.protect import protect as protect
    from suffice.release.release import Release as Release
    from suffice.release.scores import Scores as Scores
    from suffice.release.table_verification import verify_table as verify_table
    from suffice.release.tables import TableRelease as TableRelease
    from suffice.release.tables import publish as publish
    from suffice.seed import Seed as Seed
    from suffice.synthesis import *  # noqa: F403

__version__ = "0.1.0"

_PLACES = {
    "Certificate": "certificate.certificate",
    "Comparison": "comparison.comparison",
    "Finding": "guards.finding",
    "Inference": "release.inference",
    "Plan": "plan.plan",
    "Proposal": "plan.proposal",
    "Release": "release.release",
    "Roles": "design.roles",
    "Scores": "release.scores",
    "Cart": "synthesis",
    "Kernel": "synthesis",
    "Linear": "synthesis",
    "Logit": "synthesis",
    "Multinomial": "synthesis",
    "Ordered": "synthesis",
    "Seed": "seed",
    "Synthesis": "synthesis",
    "TableRelease": "release.tables",
    "Verification": "certificate.verification",
    "assess": "release.assess",
    "compare": "comparison.compare",
    "methods": "catalogue",
    "pool": "release.pool",
    "propose": "plan.proposal",
    "protect": "release.protect",
    "publish": "release.tables",
    "verify": "certificate.verification",
    "verify_table": "release.table_verification",
}


def __getattr__(name: str) -> Any:  # imported when used, so that `suffice --help` answers at once
    if name == "__all__":  # what `from suffice import *` asks for
        return __dir__()
    if name.startswith("_"):
        raise AttributeError(name)
    place = _PLACES.get(name, "microdata")
    try:
        return getattr(import_module(f"suffice.{place}"), name)
    except AttributeError:
        raise AttributeError(f"module 'suffice' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted([*_PLACES, *import_module("suffice.microdata").__all__, "__version__"])
