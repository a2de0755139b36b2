"""The secret key, and the random numbers that follow from it: whoever holds it can undo most releases."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import os
import re
import secrets
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

from suffice.errors import FileError, UsageError, path_of

MARK = "suffice-key-1"
USED = "used"
"""A line behind the key for every line of its ledger."""
BITS = 128
"""Fewest bits of a user's key."""


class Seed:
    """A secret key of 256 bits from the operating system, or one read from a key file.

    >>> Seed()
    Seed(...)
    """

    __slots__ = ("_key", "path", "source")

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self.source: Literal["entropy", "file", "tests"] = "entropy"
        self.path: Path | None = None

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Seed:
        """The key in a file that only its owner can read: made by `new_file`, or at least 32 hexadecimal digits."""
        path = path_of(path)
        try:
            text, found = path.read_text("ascii", "replace"), path.stat()
        except OSError as problem:
            raise FileError(f"The key file cannot be read: {problem.strerror}.") from None
        if found.st_nlink > 1:
            raise UsageError("The key file has a second name (a hard link), beside which its ledger would be missed.")
        if os.name == "posix" and found.st_mode & 0o077:
            raise UsageError("The key file can be read by others.\nMake it yours alone: chmod 600 FILE.")
        digits = "".join(line for line in text.split() if line != MARK and not USED.startswith(line))
        if not re.fullmatch(r"(?:[0-9a-fA-F]{2})+", digits) or 4 * len(digits) < BITS:
            raise UsageError(
                f"The key file does not hold a key of at least {BITS} bits ({BITS // 4} hexadecimal digits).\n"
                "Make one with: suffice key new FILE"
            )
        if guessable(bytes.fromhex(digits)):
            raise UsageError(
                "The key file holds a pattern, which can be guessed: few different digits, a text that repeats, or a "
                "row of numbers.\nMake one with: suffice key new FILE"
            )
        seed = cls()
        seed._key, seed.source, seed.path = bytes.fromhex(digits), "file", path
        return seed

    @classmethod
    def new_file(cls, path: str | os.PathLike[str]) -> Seed:
        """Write a new key to a file that only its owner can read; an existing file is never overwritten."""
        seed, path = cls(), path_of(path)
        try:
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(f"{MARK}\n{seed._key.hex()}\n")
                file.flush()
                os.fsync(file.fileno())
        except FileExistsError:
            raise FileError("The key file exists already; a key is never overwritten. Choose another name.") from None
        except OSError as problem:
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise FileError(f"The key file cannot be written: {problem.strerror}.") from None
        return cls.from_file(path)

    @classmethod
    def for_tests(cls, number: int) -> Seed:
        """A key that anyone can guess: what it makes is NOT FOR RELEASE."""
        seed = cls()
        seed._key, seed.source = number.to_bytes(32, "big"), "tests"
        return seed

    @classmethod
    def of_trials(cls, key: BlockKey, source: Literal["entropy", "file", "tests"]) -> Seed:
        """The key of trial releases, which never leave: whoever makes them may hold it, and learns no other by it."""
        seed = cls()
        seed._key, seed.source = key._key, source
        return seed

    def derive(self, *parts: str) -> Stream:
        """The random numbers of one release: HMAC of the key with everything that decides it."""
        message = b"".join(len(part.encode()).to_bytes(8, "big") + part.encode() for part in parts)
        return Stream(hmac.digest(self._key, message, "sha256"))

    def digest(self, *parts: str) -> str:
        """A keyed digest that tells nothing to those without the key."""
        return self.derive("digest", *parts)._key.hex()[:32]

    def seal(self, data: bytes) -> str:
        """Bytes as text that tells nothing to those without the key; the same for the same bytes."""
        tag = hmac.digest(self._key, b"seal:" + data, "sha256")[:16]
        return base64.b64encode(tag + self._veiled(tag, data)).decode("ascii")

    def unseal(self, text: str) -> bytes:
        """The bytes that were sealed with this key; anything else is a ValueError."""
        sealed = base64.b64decode(text, validate=True)
        data = self._veiled(sealed[:16], sealed[16:])
        if not hmac.compare_digest(self.seal(data), text):
            raise ValueError("not sealed with this key")
        return data

    def _veiled(self, tag: bytes, data: bytes) -> bytes:
        """With random bytes of its own added to each, or taken away."""
        key = hmac.digest(self._key, b"veil:" + tag, "sha256")
        both = (np.frombuffer(each, np.uint8) for each in (data, hashlib.shake_256(key).digest(len(data))))
        return bytes(np.bitwise_xor(*both).data)

    def __repr__(self) -> str:
        return "Seed(...)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("A seed is a secret and is not pickled.")

    def __getstate__(self) -> NoReturn:
        raise TypeError("A seed is a secret and is not copied.")


def is_key(path: Path) -> bool:
    """Whether a file is a key that was made here, or one with a ledger beside it."""
    if path.with_name(f"{path.name}.ledger").exists():
        return True
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return file.read(len(MARK)) == MARK.encode()
    return False


def guessable(key: bytes) -> bool:
    """Whether no random key looks like this: of 16 random bytes it is one in more than 10^12."""
    steps = {(two - one) % 256 for one, two in pairwise(key)}
    periods = range(1, len(key) // 2 + 1)
    repeated = any(key[period:] == key[:-period] for period in periods)
    return repeated or len({*key.hex()}) < 6 or len(steps) < 6


class _Given(ISeedSequence):
    """The words of a key, for a generator that asks for them."""

    def __init__(self, words: NDArray[np.uint64]) -> None:
        self.words = words

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NDArray[Any]:
        return self.words


@dataclass(frozen=True)
class BlockKey:
    """The key of one block's numbers: whoever works on the block may hold it, and learns of no other block by it."""

    _key: bytes = field(repr=False)

    def generator(self) -> np.random.Generator:
        """A counter-based generator, at its beginning."""
        words = np.frombuffer(self._key, dtype=np.uint64)
        key: Any = _Given(words[:2])  # where it is given as one, entropy is drawn that nobody uses
        return np.random.Generator(np.random.Philox(key, counter=[0, 0, int(words[2]), int(words[3])]))

    def normals(self, rows: int, columns: int) -> NDArray[np.float64]:
        """Z of the block, column after column: the first columns are the same however many are drawn."""
        Z = np.empty((rows, columns), order="F")
        self.fill(Z)
        return Z

    def fill(self, Z: NDArray[np.float64]) -> None:
        """The same numbers, written into the columns of a matrix that lie one behind the other in memory."""
        self.generator().standard_normal(out=Z.T)


@dataclass(frozen=True)
class Stream:
    """Random numbers that belong to rows: each logical block has its own counter-based generator."""

    _key: bytes = field(repr=False)

    def block(self, number: int, label: str = "normals") -> BlockKey:
        """The key of a block's own numbers; that of the release cannot be had from it."""
        return BlockKey(hmac.digest(self._key, f"{label}:{number}".encode(), "sha256"))

    def child(self, label: str) -> Stream:
        """Random numbers of their own for a part of a release."""
        return Stream(hmac.digest(self._key, f"child:{label}".encode(), "sha256"))

    def generator(self, label: str, index: int = 0) -> np.random.Generator:
        return self.block(index, label).generator()

    def digest(self) -> str:
        """A name for everything that follows from these numbers; it tells none of them."""
        return hmac.digest(self._key, b"digest", "sha256").hex()[:32]

    def normals(self, block: int, rows: int, columns: int) -> NDArray[np.float64]:
        """Z of one logical block, column after column: the first columns are the same however many are drawn."""
        return self.block(block).normals(rows, columns)

    def buckets(self, block: int, rows: int, count: int) -> NDArray[Any]:
        """The bucket that each row of one logical block is dealt to."""
        return self.generator("buckets", block).integers(count, size=rows, dtype=np.uint16)

    def permutation(self, bucket: int, size: int) -> NDArray[np.int64]:
        """The order of the rows of one bucket."""
        return self.generator("order", bucket).permutation(size)

    def __reduce__(self) -> NoReturn:  # whoever has the numbers of a release can undo it, as with the key itself
        raise TypeError("The random numbers of a release are a secret and are not pickled or copied.")
