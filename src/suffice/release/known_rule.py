"""Which rule combines the files of a release: what their certificate says of how they were made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from suffice.errors import UsageError, suggest
from suffice.release.inference import WORDS


@dataclass(frozen=True)
class KnownRule:
    """A rule, records of a release over those of the original, releases of one imputation, and what is to be said."""

    name: str
    share: float = 1.0
    stages: int = 1
    notes: tuple[str, ...] = ()
    surplus: int = 0
    """Records of a release beyond those of the original, which are no degrees of freedom of what is known."""

    @classmethod
    def read(cls, made: Mapping[str, Any] | None, m: int, k: int) -> KnownRule:
        """What certificates say: `made` is their key `synthesis`; None of a release of another method.

        After exactness the rule is T_p whatever was drawn: the parameters of every file are the original's. T_f needs
        a population in which the rest is known, and parameters drawn from their posterior.
        """
        known = cls._read(made or {}, m)
        n = int((made or {}).get("records") or k)
        return replace(known, share=k / n, surplus=k - n)

    @classmethod
    def _read(cls, made: Mapping[str, Any], m: int) -> KnownRule:
        exact, stages = bool(made.get("exact")), int(made.get("two_stage") or 1)
        few = () if m == (told := int(made.get("m") or m) * stages) else (f"{m} of {told} files are used",)
        if stages > 1:
            if few:
                raise UsageError(f"Files of two stages are pooled all together: {told} of them, and {m} are given.")
            if m == stages:
                raise UsageError(
                    "One imputation tells nothing of the variance between imputations.\nAsk for two at least: m=2."
                )
            return cls("T_M", stages=stages)
        if m == 1:
            if not made or exact:
                return cls("T_o", notes=("right for what the certificate lists as kept, and for nothing else",))
            alone = "one file tells nothing of the variance between files: the error is that of all cells drawn anew"
            return cls("T_d" if made.get("proper") else "T_s", notes=(alone, *few))
        if exact or made.get("kind") != "full" or not made.get("frame"):
            return cls("T_p", notes=few)
        if made.get("proper"):
            return cls("T_f", notes=few)
        wide = "the parameters were not drawn (proper), so intervals may be too wide, never too narrow"
        return cls("T_p", notes=(wide, *few))

    @classmethod
    def told(cls, rule: str | None, m: int, k: int, records: int | None) -> KnownRule:
        """What is said of files without a certificate; records: of the original, where that is not k."""
        allowed = [each for each in WORDS if each != "T_M"]
        if rule not in allowed:
            raise UsageError(
                f"No certificate is beside the files, so that the rule is not known.{suggest(rule or '', allowed)}\n"
                f"Say rule (--rule): {', '.join(allowed)}. T_p for partially synthetic files."
            )
        if m == 1 and rule not in ("T_s", "T_d", "T_o"):
            raise UsageError(f"{rule} needs two files at least: one tells nothing of the variance between them.")
        if records is not None and (isinstance(records, bool) or not isinstance(records, int) or records < 1):
            raise UsageError("records (--records) is how many the original has: a whole number from 1.")
        return cls(rule, k / records, surplus=k - records) if records else cls(rule)
