"""First and second moments: what mean, covariance and fit have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from suffice.statistics.domain_moments import DomainSums
from suffice.statistics.standing import WHOLE_FILE, Pair
from suffice.statistics.statistic import Claim, Promise, Statistic
from suffice.statistics.sums import Reference, Sums


@dataclass(frozen=True)
class Moment(Statistic):
    """Compared in the whole file or in every group alike: all moments of a domain have their sums in common."""

    in_groups: ClassVar = True
    weighted: ClassVar = True

    def sums(self, beside: Sequence[Promise]) -> Sums:
        moments = [each for each in beside if isinstance(each.statistic, Moment)]
        domain = moments[0].domain
        fitted = [each.terms for each in moments if each.name == "fit"]
        terms = None if None in fitted else tuple(dict.fromkeys(name for each in fitted for name in each or ()))
        names = tuple(dict.fromkeys(each.name for each in moments))
        return WHOLE_FILE if domain.whole else DomainSums(domain, names, terms)

    def claim(self, promise: Promise, before: Any, after: Any, reference: Reference) -> Claim | None:
        claim: Claim | None = before.worst(self.compared, after, reference)
        return claim

    @abstractmethod
    def compared(self, pair: Pair) -> Claim:
        """Its errors, at their worst."""
