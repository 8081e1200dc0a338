"""The process in which programs are read, ground and compiled: ``python -m problog4fairness.program.worker``.

Requests come as lines of JSON on standard input, answers leave as lines of JSON on standard output. The caller stops
this process when the time limit is over; the memory limit is set here, by the operating system's own means.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from problog4fairness.errors import LimitError, ProgramError


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Do one task: ``read`` (syntax only), ``compile`` or ``diagram``."""
    from problog4fairness.program import causal, ground, syntax

    text = request["text"]
    try:
        if request["task"] == "read":
            return {"result": syntax.parse(text).summary()}
        if request["task"] == "compile":
            return {"result": ground.compile_text(text)}
        return {"result": causal.causal_graph(text)}
    except ProgramError as error:
        return _failure(error)
    except RecursionError:
        return _failure(LimitError("the program is nested too deeply"))


def _failure(error: ProgramError) -> dict[str, Any]:
    return {"error": type(error).__name__, "message": error.message, "line": error.line, "column": error.column}


def limit_memory(limit: int) -> None:
    """Let this process have at most ``limit`` bytes of address space, where the system can enforce that."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def main() -> None:
    """Answer requests until standard input ends."""
    # Only answers may reach the caller: anything a library prints goes to standard error.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        request = json.loads(line)
        try:
            limit_memory(request["memory"])
            text = json.dumps(answer(request))
        except MemoryError:
            # What is left of this process cannot be trusted to have the memory for another task.
            answers.write(json.dumps({"memory": True}) + "\n")
            answers.flush()
            return
        answers.write(text + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
