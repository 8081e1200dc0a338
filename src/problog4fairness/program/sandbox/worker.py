"""The process in which programs are read, ground and compiled: ``python -m problog4fairness.program.sandbox.worker``.

Requests come as lines of JSON on standard input, answers leave as lines of JSON on standard output. The caller stops
this process when the time limit is over; the memory limit is set here, by the operating system's own means. Before the
first request comes, everything that is needed is in memory, and the process is shut off (see :mod:`.wall`).
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import problog.pypl  # noqa: F401 - problog imports it when it needs it, and then it is too late

from problog4fairness.errors import GroundingError, LimitError, ProgramError
from problog4fairness.program.circuit import grounding as ground
from problog4fairness.program.diagram import causal, layout
from problog4fairness.program.language import syntax
from problog4fairness.program.sandbox import wall
from problog4fairness.program.sandbox.lifetime import end_with_parent

# How deep an answer is nested, and how long the name of an atom, a parameter or a network in it is, at most.
MAX_DEPTH, MAX_NAME = 250, 10_000


def answer(request: dict[str, Any]) -> str:
    """Do one task, and give its result as JSON.

    ``read`` (syntax only), ``compile`` or ``diagram`` of a program, or ``layout`` of a diagram. What the caller gets is
    bounded here, because the caller has no limits: how deep it is nested, how long its names are, and all of it.
    """
    try:
        text = json.dumps({"result": _result(request)})
        if len(text) > request["most"]:
            raise LimitError(f"the compiled program has {len(text):,} characters, more than {request['most']:,}")
        return text
    except ProgramError as error:
        return json.dumps(_failure(error))
    except ValueError as error:  # a whole number with thousands of digits
        return json.dumps(_failure(GroundingError(f"the result of this program cannot be written ({error})")))


def _result(request: dict[str, Any]) -> Any:
    tasks: dict[str, Callable[[str], Any]] = {
        "read": lambda text: syntax.parse(text).summary(),
        "compile": ground.compile_text,
        "diagram": causal.causal_graph,
        "layout": layout.layout_text,
    }
    try:
        result = tasks[request["task"]](request["text"])
        check_depth(result)
        if request["task"] != "read":  # which gives clauses as they are in the text
            check_names(result)
        return result
    except (ProgramError, MemoryError):
        raise
    except RecursionError:
        raise LimitError("the program is nested too deeply") from None
    except Exception as error:
        # problog answers some odd programs with a bare error of Python: that is the program's fault, not the caller's.
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise GroundingError(f"problog cannot ground this program ({reason})") from None


def check_depth(result: Any) -> None:
    """Refuse to send what is nested so deeply that the caller could not read it."""
    level = [result]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for value in level
            if isinstance(value, dict | list | tuple)
            for child in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return
    raise LimitError("a term or a weight of the program is nested too deeply")


def check_names(result: Any) -> None:
    """Refuse an atom whose name was put together while grounding, and doubles with every step."""
    pending = [result]
    while pending:
        value = pending.pop()
        if isinstance(value, str) and len(value) > MAX_NAME:
            raise LimitError(f"an atom or a term of the program has {len(value):,} characters, more than {MAX_NAME:,}")
        if isinstance(value, dict | list | tuple):
            pending += value.values() if isinstance(value, dict) else value


def _failure(error: ProgramError) -> dict[str, Any]:
    message = error.message[:MAX_NAME]  # it may name an atom
    return {"error": type(error).__name__, "message": message, "line": error.line, "column": error.column}


def limit_memory(limit: int) -> None:
    """Let this process have at most ``limit`` bytes of address space, where the system can enforce that."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = min(limit, 1 << 62)
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def limit_time(seconds: float) -> None:
    """End this process after ``seconds``, also when nobody is left to end it; 0 for never."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, min(seconds, 1e8))


def main() -> None:
    """Answer requests until standard input ends."""
    end_with_parent()
    # Only answers may reach the caller: anything a library prints goes to standard error.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    wall.close()
    answers.write('{"ready": true}\n')
    answers.flush()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            limit_memory(request["memory"])
            # The caller ends this process in time; this is for the case that the caller itself was killed.
            limit_time(request["seconds"] + 2)
            text = answer(request)
            limit_time(0)
        except MemoryError:
            # What is left of this process cannot be trusted to have the memory for another task.
            answers.write(json.dumps({"memory": True}) + "\n")
            answers.flush()
            return
        answers.write(text + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
