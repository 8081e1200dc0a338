"""Writing ProbLog: the one place where names, groups and numbers of a user's become program text.

What means something goes in as an :func:`atom` or, where it names a predicate, as one of :func:`predicates`; what is
for people goes in as a :func:`comment`. None of them can end what it stands in, so the clauses of a program do not
depend on how columns and groups are called.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from problog4fairness.data import Level
from problog4fairness.errors import P4FError, one_line

_PLAIN = re.compile(r"[a-z][a-zA-Z0-9_]*\Z")
_NOT_TEXT = re.compile("[\0\ud800-\udfff]")
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})|\\U(00(?:0[0-9a-f]|10)[0-9a-f]{4})")
# What ProbLog reads in its own way: built-ins of one or two arguments, operators and the words of its statements.
BUILT_IN = frozenset(
    {
        "atom", "atom_number", "atomic", "call", "call_in_scope", "call_nc", "callable", "check_state", "clause",
        "cmd_args", "compound", "condition", "consult", "create_scope", "dbreference", "debugprint", "div", "error",
        "evidence", "fail", "false", "find_scope", "float", "forall", "ground", "integer", "is", "is_list", "length",
        "mod", "module", "nn", "nocache", "nonvar", "not", "number", "numbervars", "once", "possible", "primitive",
        "query", "rational", "rdiv", "rem", "seq", "set_state", "simple", "sort", "subquery", "subsumes_chk",
        "subsumes_term", "succ", "true", "try_call", "unknown", "use_module", "var", "varnumbers", "write", "writeln",
        "writenl", "xor",
    }
)  # fmt: skip
# Predicates that templates make themselves: for the label, and from the name of each feature.
_FOR_LABELS = re.compile(r"(h|y[0-9]*|y_h|y[0-9]*_?noiseless|label_\w+)\Z")
_FOR_FEATURES = re.compile(r"\w+_(neg_bias|pos_bias|biased|flip|flipped)\Z")


def printed(text: str, special: str = "") -> str:
    r"""Text as printable characters of one line, in which all others, and the ``special`` ones, read ``\u00a0``.

    NUL and lone surrogates are refused: no program, table or belief file can hold them.
    """
    if _NOT_TEXT.search(text):
        raise P4FError(f"{one_line(ascii(text))} holds a NUL or a lone surrogate, which no file can hold; rename it")
    if text.isprintable() and not any(c in text for c in special):
        return text
    return "".join(c if c.isprintable() and c not in special else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def atom(value: Level) -> str:
    """A group or class as a ground term: ``1``, ``north``, ``'New York'``, ``g(1,north)``."""
    if isinstance(value, tuple):
        return "g(" + ",".join(atom(part) for part in value) + ")"
    if isinstance(value, int):
        return str(int(value))
    if not isinstance(value, str):
        raise P4FError(f"the value {value!r} is neither text nor a whole number; recode it")
    return value if _PLAIN.match(value) else "'" + printed(value, special="'\\") + "'"


def unquoted(written: str) -> str:
    """The text that an :func:`atom` stands for."""
    if not written.startswith("'"):
        return written
    return _ESCAPE.sub(lambda match: chr(int(match[1] or match[2], 16)), written.strip("'"))


def comment(*lines: str) -> str:
    """Each text as one line of comment."""
    return "\n".join(f"% {printed(line)}" for line in lines)


def number(value: float) -> str:
    """A probability, exactly."""
    return repr(float(value))


def slug(name: str) -> str:
    """A column's name as a plain atom: ``High Cheekbones`` is ``high_cheekbones``."""
    cleaned = re.sub(r"[^a-zA-Z0-9]+", "_", name).strip("_").lower()
    return cleaned if _PLAIN.match(cleaned) else f"c_{cleaned}".strip("_")


def predicates(names: Iterable[str], mark: str, taken: Collection[str] = ()) -> list[str]:
    """A predicate for each name, different from each other, from ``taken`` and from all that mean something already.

    Parameters
    ----------
    names
        Names of columns.
    mark
        A letter that is put before or after a name that cannot be used as it is.
    taken
        Further names that cannot be used.
    """
    atoms = []
    for name in map(slug, names):
        if name in BUILT_IN or name in taken or _FOR_LABELS.match(name):
            name = f"{mark}_{name}"
        atoms.append(f"{name}_{mark}" if _FOR_FEATURES.match(name) else name)
    return distinct(atoms, taken)


def distinct(names: Iterable[str], taken: Collection[str] = ()) -> list[str]:
    """The names, with a number appended to those that occurred before."""
    used = set(taken)
    last: dict[str, int] = {}
    result = []
    for name in names:
        candidate = name
        while candidate in used:
            last[name] = last.get(name, 1) + 1
            candidate = f"{name}_{last[name]}"
        used.add(candidate)
        result.append(candidate)
    return result


def is_plain(name: str) -> bool:
    """Whether a name can stand in a program as it is."""
    return _PLAIN.match(name) is not None
