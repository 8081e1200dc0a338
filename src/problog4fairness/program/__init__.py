"""ProbLog text in, a circuit out: compiled once in a process of its own, evaluated in batches with gradients.

In the order in which a program passes through it:

- ``program.py``: a :class:`Program` is text; all that is known of it is asked from the worker.
- ``sandbox/cache.py`` looks in memory and on disk; ``process.py`` runs ``worker.py``, which ``wall.py`` shuts off.
- ``language/syntax.py`` parses and checks; ``safety.py`` refuses what a stranger's program must not do.
- ``circuit/grounding.py`` grounds and compiles in the worker; ``compiled.py`` is what comes back.
- ``circuit/circuit.py`` evaluates: ``weights.py`` makes inputs of values, ``passes.py`` goes up and down the nodes.
- ``circuit/specialised.py`` is what is left where all that is known is fixed; ``observed.py`` its likelihood.
- ``diagram/`` draws the causal graph; ``language/writing.py`` writes names and numbers into programs.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
