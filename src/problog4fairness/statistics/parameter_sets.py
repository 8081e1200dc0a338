"""All parameters of a belief: values by name, tables, plain data, and what to do where one is unknown."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from problog4fairness.errors import MissingValueError, P4FError, UnknownNameError, among
from problog4fairness.statistics.parameter import HALF, Cell, Parameter, called
from problog4fairness.statistics.proportions import Beta

if TYPE_CHECKING:
    import pandas as pd


def estimated_jointly(
    parameters: Sequence[Parameter], values: Any, low: Any, high: Any, information: Any, rows: int, source: str
) -> tuple[Parameter, ...]:
    """Parameters that were estimated together; ``information`` is their matrix, and what precedes it are arrays."""
    names = [parameter.name for parameter in parameters]
    columns = (map(float, column) for column in (values, low, high))
    matrix = (tuple(zip(names, map(float, row), strict=True)) for row in information)
    return tuple(
        replace(parameter, value=value, low=a, high=b, rows=rows, source=source, information=row)
        for parameter, value, a, b, row in zip(parameters, *columns, matrix, strict=True)
    )


def bind(
    parameters: Sequence[Parameter], values: Mapping[str, float | Parameter | None] | None
) -> tuple[Parameter, ...]:
    """The parameters with some values stated, or open where a value is None; None instead of a mapping opens all."""
    if values is None:
        return tuple(parameter.stated(None) for parameter in parameters)
    named_parameters(parameters, values)
    return tuple(
        _bound(parameter, values[parameter.name]) if parameter.name in values else parameter for parameter in parameters
    )


def _bound(parameter: Parameter, value: float | Parameter | None) -> Parameter:
    if isinstance(value, Parameter):
        return value
    return parameter.stated(None if value is None else float(value))


def probabilities(parameters: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """Those of the parameters that are probabilities: all but those of recorded numbers."""
    return tuple(parameter for parameter in parameters if parameter.is_probability)


def checked_priors(prior: Any, parameters: Sequence[Parameter]) -> dict[str, Beta]:
    """The priors that somebody passed, by the names of parameters, or the error that says what is wrong with them."""
    if prior is None:
        return {}
    if not isinstance(prior, Mapping):
        kind = type(prior).__name__
        raise P4FError(f"prior must be a mapping such as {{'p1': p4f.statistics.Beta(2, 8)}}, not {kind}")
    named_parameters(parameters, prior)
    for name, beta in prior.items():
        if not isinstance(beta, Beta):
            kind = type(beta).__name__
            raise P4FError(f"the prior of {name} must be a Beta, not {kind}; write p4f.statistics.Beta(2, 8)")
    return dict(prior)


def named_parameters(parameters: Iterable[Parameter], names: Iterable[str]) -> list[Parameter]:
    """The parameters of these names, or the error that says which there are."""
    known = {parameter.name: parameter for parameter in parameters}
    for name in names:
        if name not in known:
            raise UnknownNameError(f"the belief has no parameter {name!r}; {among(name, known, 'it has')}")
    return [known[name] for name in names]


def known_values(parameters: Iterable[Parameter]) -> dict[str, float]:
    """The values that a program computes with, of the parameters that have one, by name; see :attr:`Parameter.used`.

    Outcomes that exclude each other share the rows of their cell: where one of them was never seen, or nothing else
    was, all have the mean of one Dirichlet distribution, so that they still sum to 1.
    """
    cells: dict[Hashable, list[Parameter]] = {}
    for parameter in parameters:
        if parameter.value is not None:
            cells.setdefault(outcomes_of(parameter), []).append(parameter)
    return {name: value for cell in cells.values() for name, value in _used(cell).items()}


def outcomes_of(parameter: Parameter) -> Hashable:
    """What parameters have in common that are probabilities of different outcomes of the same rows."""
    cell = parameter.cell
    if cell is None:
        return parameter.name
    # Labels are counted among rows of one fair class, features among those of one recorded value.
    return cell.feature, cell.group, cell.fair if cell.feature is None else cell.recorded


def _used(cell: Sequence[Parameter]) -> dict[str, float]:
    """The values in use of the parameters of one cell."""
    values = {parameter.name: parameter.value or 0.0 for parameter in cell}
    estimated = [parameter for parameter in cell if parameter.rows is not None]
    rest = 1 - sum(values.values())
    if len(cell) == 1:
        return {parameter.name: parameter.used or 0.0 for parameter in cell}
    if not estimated or not (any(parameter.at_boundary for parameter in estimated) or rest < 1e-9):
        return values
    share = sum(parameter.value or 0.0 for parameter in estimated) + max(rest, 0.0)
    rows = min(parameter.equal_rows if parameter.at_boundary else float(parameter.rows or 0) for parameter in estimated)
    scale = rows + HALF * (len(estimated) + 1)
    return values | {
        parameter.name: ((parameter.value or 0.0) * rows + HALF * share) / scale for parameter in estimated
    }


def check_known(parameters: Sequence[Parameter]) -> None:
    """Raise the error that names the parameters that have no value."""
    empty = [parameter for parameter in parameters if parameter.without_rows]
    if empty:
        raise MissingValueError(
            f"no audited row tells about {', '.join(parameter.description for parameter in empty)}; {ways_on(empty[0])}"
        )
    unknown = [parameter.name for parameter in parameters if parameter.value is None]
    if unknown:
        raise MissingValueError(
            f"parameter{'s' if len(unknown) > 1 else ''} {', '.join(unknown)} of the belief unknown; "
            "estimate from audited rows with .estimate(...), or state a value with .bind({...})"
        )


def ways_on(parameter: Parameter) -> str:
    """What to do about a parameter of which no audited row tells."""
    return (
        "audit such rows, take it from the other groups with .pooled(), say what is known of it with "
        f".with_priors({{{parameter.name!r}: statistics.Beta(1, 4)}}) or .bind({{{parameter.name!r}: ...}}), or leave "
        "that group out of the belief"
    )


def table(parameters: Iterable[Parameter], error: float = 0.1) -> pd.DataFrame:
    """The parameters as a data frame; rows that are still needed are those of probabilities."""
    import pandas as pd

    from problog4fairness.data import WholeTable

    parameters = list(parameters)
    columns: dict[str, list[Any]] = {
        name: [getattr(parameter, name) for parameter in parameters] for name in ("value", "low", "high", "rows")
    }
    kinds: dict[str, Any] = {"value": "float64", "low": "float64", "high": "float64", "rows": "Int64"}
    if not parameters or any(parameter.is_probability for parameter in parameters):
        columns["still_needed"] = [
            parameter.still_needed(error) if parameter.is_probability else None for parameter in parameters
        ]
        kinds["still_needed"] = "int64" if all(parameter.is_probability for parameter in parameters) else "Int64"
    columns["meaning"] = [parameter.meaning for parameter in parameters]
    index = pd.Index([parameter.name for parameter in parameters], name="parameter")
    return WholeTable(columns, index=index).astype(kinds)


def readable(frame: pd.DataFrame) -> pd.DataFrame:
    """A table of parameters, which begins with what they mean where their names only spell out that."""
    if frame.index.name != "parameter" or "meaning" not in frame.columns or not len(frame):
        return frame
    meanings = frame["meaning"].map(str)
    spelled = all(called(str(name), said) != name for name, said in meanings.items())
    return frame.set_index("meaning").rename_axis("probability that") if spelled else frame


def parameters_json(parameters: Iterable[Parameter]) -> list[dict[str, Any]]:
    """Parameters as plain data; what only some have is left out of the others."""
    return [_json(parameter) for parameter in parameters]


def _json(parameter: Parameter) -> dict[str, Any]:
    names = ("name", "meaning", "value", "low", "high", "rows", "cell", "source")
    plain = {name: getattr(parameter, name) for name in names}
    plain["cell"] = None if parameter.cell is None else list(parameter.cell)
    if parameter.prior is not None:
        plain["prior"] = [float(parameter.prior.a), float(parameter.prior.b)]
    if parameter.information is not None:
        plain["information"] = dict(parameter.information)
    if parameter.confidence != 0.95:
        plain["confidence"] = parameter.confidence
    return plain


def parameters_from_json(
    value: Iterable[dict[str, Any]], bounds: Mapping[str, tuple[float, float]] | None = None
) -> tuple[Parameter, ...]:
    """The inverse of :func:`parameters_json`; ``bounds`` are by name, of parameters that are no probabilities."""
    read: dict[str, Callable[[Any], Any]] = {
        "cell": lambda cell: None if cell is None else Cell(*cell),
        "prior": lambda prior: Beta(*prior),
        "information": lambda known: tuple(known.items()),
    }
    parameters = []
    for entry in value:
        known: dict[str, Any] = {name: read[name](part) if name in read else part for name, part in entry.items()}
        parameters.append(Parameter(**known, bounds=(bounds or {}).get(entry["name"], (0.0, 1.0))))
    return tuple(parameters)
