"""Networks by name, as a command line gives them: ``small``, ``resnet50`` or ``package.module:factory``."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from torch import nn

from problog4fairness.errors import P4FError, one_line
from studies.vision.pretrained import resnet50
from studies.vision.residual import ResidualNetwork


def named_network(name: str, *, outputs: int = 1, channels: int = 3) -> nn.Module:
    """A new network.

    Parameters
    ----------
    name
        ``"small"`` for :class:`ResidualNetwork`, ``"resnet50"`` for the paper's, or ``"package.module:factory"`` for a
        callable of one's own that returns a ``torch.nn.Module``. It is called without arguments, or with ``outputs=``
        where it has a parameter of that name. Modules in the current folder are found too.
    outputs
        Logits of a picture.
    channels
        Of the pictures, for the small network.
    """
    if name == "small":
        return ResidualNetwork(outputs=outputs, channels=channels)
    if name == "resnet50":
        return resnet50(outputs)
    factory = _factory(name)
    try:
        takes = "outputs" in inspect.signature(factory).parameters
    except (TypeError, ValueError):
        takes = False
    try:
        found = factory(outputs=outputs) if takes else factory()
    except P4FError:
        raise
    except Exception as error:
        raise P4FError(f"network {name!r} fails: {_reason(error)}") from None
    if not isinstance(found, nn.Module):
        raise P4FError(f"network {name!r} gives a {type(found).__name__}, not a torch.nn.Module")
    return found


def network_version(name: str) -> str:
    """The name, for a network of one's own with a hash of the file that it is in: another text, another network."""
    if ":" not in name:
        return name
    file = getattr(sys.modules.get(_factory(name).__module__), "__file__", None)
    digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16] if file else "unknown"
    return f"{name} {digest}"


def _factory(name: str) -> Callable[..., Any]:
    module, colon, attribute = name.partition(":")
    if not (colon and attribute and all(part.isidentifier() for part in module.split("."))):
        raise P4FError(f"network {name!r} is not small, resnet50 or package.module:factory")
    with _current_folder():
        try:
            found: Any = import_module(module)
        except ModuleNotFoundError as error:
            whose = "" if error.name and module.startswith(error.name) else f" ({error})"
            raise P4FError(f"network {name!r}: no module {module!r} can be imported{whose}") from None
        except Exception as error:
            raise P4FError(f"network {name!r}: importing {module!r} fails: {_reason(error)}") from None
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise P4FError(f"network {name!r}: {module!r} has no {attribute!r}")
        found = getattr(found, part)
    if not callable(found):
        raise P4FError(f"network {name!r} is a {type(found).__name__}, not a callable that returns a module")
    call: Callable[..., Any] = found
    return call


@contextmanager
def _current_folder() -> Iterator[None]:
    """Modules in the current folder can be imported, after all others."""
    here = str(Path.cwd())
    added = here not in sys.path and "" not in sys.path
    if added:
        sys.path.append(here)
    try:
        yield
    finally:
        if added:
            sys.path.remove(here)


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {one_line(str(error))[:200]}"
