"""Valid files made invalid, in the ways that accidents and strangers do it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import TypeAlias

Mutation: TypeAlias = Callable[[bytes, Sequence[bytes], Random], bytes]

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_STRANGE_NUMBERS = (b"0", b"-1", b"1e308", b"1e999", b"-0.0", b"nan", b"NaN", b"null", b"9" * 25, b"9" * 5000,
                    b"1" * 400, str(2**31).encode(), str(2**63).encode(), b"0x10", b"1e-400", b"true")  # fmt: skip
_STRANGE_TEXTS = (b"\0", b"\r", b"\n", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"'", b'"', b"\\", b"\\u0000",
                  b"/* ", b"% ", b"%p4f", b":- ", b"::", b"..", b"../" * 9, b"\x1b[2J", "\u00a0\u200b".encode(), b"[]",
                  b"{}", b"()", b",,", b";", b"=", b"nn(h,X)", b"query(", b"PAR1", b"PK\x03\x04",
                  b"\x1f\x8b")  # fmt: skip
_OPENERS = (b"[", b"(", b"{", b'{"a":', b"f(", b"-", b"\\+", b"/*", b"'", b"[[],", b"a:-")
_CLOSERS = {b"[": b"]", b"(": b")", b"{": b"}", b'{"a":': b"}", b"f(": b")", b"[[],": b"]"}


def mutated(content: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """The content after one to three mutations.

    Parameters
    ----------
    content
        A valid file.
    others
        Valid files to take pieces from.
    rng
        Where all choices come from.
    """
    for _ in range(rng.choice((1, 1, 2, 3))):
        content = rng.choice(MUTATIONS)(content, others, rng)
    return content


def _span(content: bytes, rng: Random) -> tuple[int, int]:
    start = rng.randint(0, len(content))
    return start, min(len(content), start + int(rng.expovariate(1 / 20)))


def flip_bits(content: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.randint(1, 8) if changed else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def truncate(content: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    place = rng.randint(0, len(content))
    return content[:place] if rng.random() < 0.7 else content[place:]


def remove(content: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    start, end = _span(content, rng)
    return content[:start] + content[end:]


def repeat(content: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    start, end = _span(content, rng)
    return content[:end] + content[start:end] * rng.choice((1, 2, 10, 1000)) + content[end:]


def splice(content: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    other = rng.choice([*others, content])
    start, end = _span(other, rng)
    place, to = _span(content, rng)
    return content[:place] + other[start:end] + content[to:]


def insert(content: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    place = rng.randint(0, len(content))
    return (
        content[:place] + rng.choice((rng.choice(_STRANGE_TEXTS), rng.randbytes(rng.randint(1, 8)))) + content[place:]
    )


def swap_numbers(content: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    found = list(_NUMBER.finditer(content))
    if len(found) < 2:
        return content
    one, two = sorted(rng.sample(found, 2), key=lambda match: match.start())
    between = content[one.end() : two.start()]
    return content[: one.start()] + two.group() + between + one.group() + content[two.end() :]


def change_number(content: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    found = list(_NUMBER.finditer(content))
    if not found:
        return content
    match = rng.choice(found)
    return content[: match.start()] + rng.choice(_STRANGE_NUMBERS) + content[match.end() :]


def nest(content: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    opener, depth = rng.choice(_OPENERS), rng.choice((10, 300, 2000, 100_000))
    start, end = _span(content, rng)
    closed = _CLOSERS.get(opener, b"") * depth if rng.random() < 0.7 else b""
    return content[:start] + opener * depth + content[start:end] + closed + content[end:]


MUTATIONS: tuple[Mutation, ...] = (
    flip_bits, truncate, remove, repeat, splice, insert, swap_numbers, change_number, change_number, nest,
)  # fmt: skip
