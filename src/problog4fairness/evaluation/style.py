"""How methods look in figures: the same in all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, product

# Okabe and Ito's colours, which colour-blind readers can tell apart; markers for print in black and white.
STYLES = {
    "ours": ("#D55E00", "o"),
    "upper": ("#000000", "^"),
    "lower": ("#0072B2", "v"),
    "unawareness": ("#009E73", "s"),
    "massaging": ("#CC79A7", "D"),
    "parity": ("#E69F00", "X"),
    "audit only": ("#882255", "*"),
    "reductions": ("#117733", "p"),
}
OTHERS = tuple(
    (colour, marker) for marker, colour in product("Ph<>pd8", ("#56B4E9", "#999999", "#8C6D31", "#332288", "#BBCC33"))
)


def styles(names: Sequence[str], kinds: Mapping[str, str] | None = None) -> dict[str, tuple[str, str]]:
    """Colour and marker of each method; those whose kind has none, or has given it away, get one in their order.

    Parameters
    ----------
    names
        The methods.
    kinds
        The kind of each method, where its name does not say it.

    Examples
    --------
    >>> from problog4fairness.evaluation import styles
    >>> styles(["ours", "lower"])
    {'ours': ('#D55E00', 'o'), 'lower': ('#0072B2', 'v')}
    """
    # Neighbours differ in both, so that a few of them are told apart by either.
    others = cycle(OTHERS[(6 * number) % len(OTHERS)] for number in range(len(OTHERS)))
    free = dict(STYLES)
    wanted = {name: (kinds or {}).get(name, name) for name in names}
    return {name: free.pop(kind) if kind in free else next(others) for name, kind in wanted.items()}
