"""Beliefs as plain data, and the machine-readable line of a belief file, of which every part is checked first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from problog4fairness.beliefs.fields import MOST_CELLS, is_number
from problog4fairness.data import parse_json
from problog4fairness.errors import P4FError
from problog4fairness.statistics import Parameter, parameters_from_json

if TYPE_CHECKING:
    from problog4fairness.beliefs.belief import Belief

# Values in the line: some fifteen for each parameter.
MOST_VALUES = 1_000_000
# Of the line: 2 had parts of its own for each kind of belief; 3 has the fields that the belief declares.
FORMAT = 3


class BeliefError(P4FError):
    """A belief file that is damaged, or that does not fit the data.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import problog4fairness as p4f
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "belief.pl"
    ...     text = p4f.beliefs.belief_text(p4f.LabelBias("poor_area", 0.4)).replace('"kind"', '"sort"')
    ...     _ = file.write_text(text)
    ...     try:
    ...         p4f.beliefs.read_belief(file)
    ...     except BeliefError as error:
    ...         print("is damaged" in str(error))
    True
    """


def from_plain(value: Any) -> Belief:
    """See :meth:`Belief.from_json`."""
    from problog4fairness.beliefs.convert import known_kinds

    name = value.get("kind") if isinstance(value, dict) else None
    kind = known_kinds().get(str(name))
    if kind is None:
        raise P4FError(f"there is no belief {name!r}; import the module that defines it first")
    try:
        return kind._from_json(value)
    except P4FError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise P4FError(f"this describes no {kind.__name__}: {type(error).__name__}, {error}") from None


def checked_belief(line: str, place: str) -> Belief:
    """The belief that a line describes, or the error that says what is wrong with it.

    Parameters
    ----------
    line
        What :meth:`Belief.to_json` gave, as JSON.
    place
        Where the line stands, for the error.
    """
    try:
        value = parse_json(line, MOST_VALUES)
        written = value.pop("format", 1) if isinstance(value, dict) else FORMAT
        if written != FORMAT:
            raise ValueError(f"it has the format {written!r} of another version of p4f, not {FORMAT}; estimate it anew")
        return belief_of(value)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise BeliefError(
            f"{place}: the line '% p4f: ...' is damaged ({reason}); delete it to read the program as it is"
        ) from None


def belief_of(value: Any) -> Belief:
    """The belief that plain data from a stranger describe, or a ``ValueError`` that says what is wrong with them."""
    try:
        belief = from_plain(value)
        if belief.to_json() != value:
            raise ValueError("its parts do not fit each other")
        belief.text()
    except (LookupError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(str(error) or type(error).__name__) from None
    return belief


# What every parameter in a file has, and what only some have.
_PARAMETER = {"name", "meaning", "value", "low", "high", "rows", "cell", "source"}
_MAYBE = {"prior", "information", "confidence"}


def read_parameters(value: Any, expected: Sequence[Parameter]) -> tuple[Parameter, ...]:
    """The expected parameters, with values from plain data that anybody may have written."""
    bounds = {parameter.name: parameter.bounds for parameter in expected}
    if not isinstance(value, list) or not all(_is_parameter(parameter, bounds) for parameter in value):
        raise ValueError("a parameter is not as it should be")
    if len({parameter["name"] for parameter in value}) < len(value):
        raise ValueError("a parameter occurs twice")
    parameters = parameters_from_json(value, bounds)
    names, known = ([(each.name, each.cell) for each in some] for some in (parameters, expected))
    if names != known:
        raise ValueError("its parameters are not those of its fields")
    return parameters


def _is_parameter(value: Any, bounds: Mapping[str, tuple[float, float]]) -> bool:
    if not isinstance(value, dict) or set(value) - _MAYBE != _PARAMETER:
        return False
    if not (_is_prior(value.get("prior", [1, 1])) and _is_information(value.get("information", {}))):
        return False
    if not (isinstance(value["name"], str) and isinstance(value["meaning"], str) and value["name"].isprintable()):
        return False
    confidence = value.get("confidence", 0.95)
    if not (is_number(confidence) and 0 < confidence < 1):
        return False
    ends = [value[name] for name in ("value", "low", "high")]
    least, most = bounds.get(value["name"], (0.0, 1.0))
    if not all(end is None or (is_number(end) and least <= end <= most) for end in ends):
        return False
    rows, source = value["rows"], value["source"]
    if not ((source is None or isinstance(source, str)) and _is_cell(value["cell"])):
        return False
    known = [end for end in ends[1:] if end is not None]
    return (rows is None or (type(rows) is int and rows >= 0)) and known == sorted(known)


def _is_prior(value: Any) -> bool:
    return (
        isinstance(value, list) and len(value) == 2 and all(is_number(number) and 0 < number < 1e15 for number in value)
    )


def _is_information(value: Any) -> bool:
    if not isinstance(value, dict) or len(value) > MOST_CELLS:
        return False
    return all(isinstance(name, str) and is_number(number) and abs(number) < 1e15 for name, number in value.items())


def _is_cell(value: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, list) or len(value) != 4 or not (value[3] is None or isinstance(value[3], str)):
        return False
    return all(type(place) is int and place >= 0 for place in value[:3])
