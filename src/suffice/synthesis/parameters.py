"""What the parameters of synthesis may be: models, conditions and skip patterns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from suffice.design.condition import parse as condition
from suffice.method.method import kebab
from suffice.method.parameter import Data
from suffice.synthesis.cart import Cart
from suffice.synthesis.kernel import Kernel
from suffice.synthesis.linear import Linear
from suffice.synthesis.logit import Logit
from suffice.synthesis.model import SynthesisModel, spelt
from suffice.synthesis.multinomial import Multinomial
from suffice.synthesis.ordered import Ordered
from suffice.synthesis.rule import SkipRule, apart

MODELS: Mapping[str, type[SynthesisModel]] = {
    kebab(each.__name__): each for each in (Cart, Kernel, Linear, Logit, Multinomial, Ordered)
}


@dataclass(frozen=True)
class Population(Data):
    """A data set of all units, or a large sample of them, with the given columns; or none."""

    allowed: str = "a data set with the given columns of a population, or its path"


@dataclass(frozen=True)
class ModelRule:
    """A model for all columns, or one for each of some by name; none: trees."""

    allowed: str = (
        "a model such as cart:least=20 for all columns, or models by column (on the command line with semicolons "
        "between them: income = linear; sex = logit), or none (cart)"
    )

    def read(self, value: object) -> tuple[tuple[str, SynthesisModel], ...]:
        if isinstance(value, Mapping):
            return tuple(sorted((self._name(name), spelt(each, MODELS)) for name, each in value.items()))
        if isinstance(value, tuple) and all(isinstance(each, tuple) and len(each) == 2 for each in value):
            return self.read(dict(value))
        return () if value is None else (("", spelt(value, MODELS)),)

    def parse(self, text: str) -> tuple[tuple[str, SynthesisModel], ...]:
        if text.strip().lower() == "none":
            return ()
        pairs = [each.partition("=") for each in text.split(";") if each.strip()]
        if pairs and all(sign and ":" not in name for name, sign, _ in pairs):
            return self.read({name.strip(): model for name, _, model in pairs})
        return self.read(text.strip())

    @staticmethod
    def _name(name: object) -> str:
        if not isinstance(name, str):
            raise ValueError
        return name


@dataclass(frozen=True)
class ConditionRule:
    """A condition on records, or none."""

    allowed: str = "a condition such as income > 100000, or none (all records)"

    def read(self, value: object) -> str | None:
        if value is None:
            return None
        if not isinstance(value, str):
            raise ValueError
        return condition(value).text

    def parse(self, text: str) -> str | None:
        return self.read(None if text.strip().lower() == "none" else text)


@dataclass(frozen=True)
class SkipRules:
    """Skip patterns."""

    allowed: str = 'rules such as smoke == "NO" -> nociga = -8 (on the command line with semicolons between them)'

    def read(self, value: object) -> tuple[str, ...]:
        rules = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else (None,)
        if not all(isinstance(each, str) for each in rules):
            raise ValueError
        return tuple(" ".join(SkipRule.read(str(each)).text.split()) for each in rules)

    def parse(self, text: str) -> tuple[str, ...]:
        return self.read([each for each in apart(text, ";") if each.strip()])
