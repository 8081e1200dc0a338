"""How methods look in figures: the same in all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

# Okabe and Ito's colours, which colour-blind readers can tell apart; markers for print in black and white.
STYLES = {
    "ours": ("#D55E00", "o"),
    "upper": ("#000000", "^"),
    "lower": ("#0072B2", "v"),
    "unawareness": ("#009E73", "s"),
    "massaging": ("#CC79A7", "D"),
    "parity": ("#E69F00", "X"),
    "audit only": ("#882255", "*"),
}
OTHERS = tuple(
    (colour, marker) for marker, colour in product("Ph<>pd8", ("#56B4E9", "#999999", "#8C6D31", "#332288", "#BBCC33"))
)


def styles(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Colour and marker of each method; those without a style of their own get one in their order."""
    new = [name for name in dict.fromkeys(names) if name not in STYLES]
    # Neighbours differ in both, so that a few of them are told apart by either.
    stride = [OTHERS[(6 * number) % len(OTHERS)] for number in range(len(OTHERS))]
    return {**STYLES, **{name: stride[number % len(stride)] for number, name in enumerate(new)}}
