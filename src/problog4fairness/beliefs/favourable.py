"""The favourable label: the one that counts as 1."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    from problog4fairness.beliefs.belief import Belief


def agreed(known: Any, labels: Collection[Any], wanted: Any) -> Any:
    """See :meth:`Belief.favourable_among`; ``known`` is what the belief knows."""
    if known is None or (wanted is not None and known not in labels):
        return wanted
    if known not in labels:
        raise P4FError(
            f"the belief's favourable label is {known!r}, which is not among {list(labels)}; "
            "say which one it is by favourable=..."
        )
    if wanted is not None and wanted != known:
        raise P4FError(
            f"favourable={wanted!r} contradicts the belief, in which {known!r} is the favourable label; "
            "leave it out, or estimate the belief anew"
        )
    return known


def plain_label(label: Any) -> bool | int | float | str | None:
    """A label as plain data, which a file can hold."""
    label = label.item() if hasattr(label, "item") else label
    if label is not None and not isinstance(label, bool | int | float | str):
        raise P4FError(f"the favourable label {label!r} is neither text nor a number nor a truth value; recode it")
    return label


def favourable_json(belief: Belief) -> dict[str, Any]:
    """The favourable label as an entry of a belief's plain data, where it is known."""
    return {} if belief.favourable is None else {"favourable": belief.favourable}


def favourable_comment(belief: Belief) -> list[str]:
    """The same as a line for the head of a program, where it is not 1."""
    known = belief.favourable
    if known is None or known == 1:
        return []
    return [f"The favourable label{', which counts as 1,' if belief.classes is None else ''} is {known}."]
