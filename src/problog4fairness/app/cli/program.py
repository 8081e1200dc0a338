"""``p4f lint``, ``p4f query`` and ``p4f draw``: one program file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from rich.console import Console
from rich.table import Table

from problog4fairness.app.cli.options import Json, named_numbers, option
from problog4fairness.app.cli.output import say
from problog4fairness.errors import P4FError, printable
from problog4fairness.program import MEBIBYTE, Limits, Program

File: TypeAlias = Annotated[Path, typer.Argument(metavar="FILE", help="A ProbLog program.", show_default=False)]
Seconds: TypeAlias = Annotated[float, option("N", "Seconds that compiling may take.", "--seconds", min=0.1)]
Memory: TypeAlias = Annotated[int, option("MIB", "Memory that it may take, in MiB.", "--memory", min=256)]


def lint(file: File, as_json: Json = False, seconds: Seconds = 60.0, memory: Memory = 2048) -> None:
    """Read and compile a program, and list what it has.

    Networks, parameters, queries and evidence; how large the circuit is and how long compiling took; and what looks
    like a slip: networks and parameters that no query depends on, queries whose answer is always the same.
    """
    result = _program(file, seconds, memory).lint()
    if as_json:
        print(json.dumps(result.to_dict()))
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in result.rows():
        table.add_row(name, printable(value))
    console = Console(highlight=False, markup=False)
    console.print(table)
    for warning in result.warnings:
        console.print(printable(f"warning: {warning}"), style="yellow")


def query(
    file: File,
    nn: Annotated[
        list[str] | None,
        option("NAME=P", "Output of a network: h=0.7, 'h(x_(1,0,0,0))=0.2', or g=0.2,0.3,0.5 for outcomes.", "--nn"),
    ] = None,
    parameters: Annotated[list[str] | None, option("NAME=P", "A parameter: p1=0.3, or 'p1(2)=0.3'.", "--set")] = None,
    as_json: Json = False,
    seconds: Seconds = 60.0,
    memory: Memory = 2048,
) -> None:
    """Print the probability of each query, given the evidence.

    With --json, an object from query, without spaces, to probability.
    """
    import torch

    outputs = (named_numbers("--nn", text, "NAME=P, such as h=0.7") for text in nn or ())
    networks = {
        name: torch.tensor(numbers if len(numbers) > 1 else numbers[0], dtype=torch.float64)
        for name, numbers in outputs
    }
    values = {}
    for text in parameters or ():
        name, numbers = named_numbers("--set", text, "NAME=P, such as p1=0.3")
        if len(numbers) != 1:
            raise P4FError(f"--set {text}: a parameter has one value")
        values[name] = numbers[0]
    answers = _program(file, seconds, memory).probability(networks, values)
    if as_json:
        print(json.dumps({name: float(value) for name, value in answers.items()}))
        return
    width = max(len(printable(name)) for name in answers)
    for name, value in answers.items():
        say(f"{printable(name):<{width}}  {float(value):.10g}")


def draw(
    file: File,
    output: Annotated[Path, option("FILE", "A file ending in .svg, .png, .pdf or .mmd (Mermaid).", "-o", "--output")],
    classifier: Annotated[str, option("NAME", "The network that is the classifier.", "--classifier")] = "h",
    seconds: Seconds = 60.0,
    memory: Memory = 2048,
) -> None:
    """Draw the causal diagram of a program: what depends on what, dashed where it is not observed."""
    from problog4fairness.data import check_output

    check_output(output, file)
    _program(file, seconds, memory).diagram(classifier=classifier).save(output)
    say(output)


def _program(file: Path, seconds: float, memory: int) -> Program:
    return Program.from_file(file, limits=Limits(seconds=seconds, memory=memory * MEBIBYTE))
