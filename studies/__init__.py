"""The paper's studies, on public names of problog4fairness only: ``python -m studies``, or ``p4f reproduce``.

``engine`` runs any study: in parallel, stored as it goes, resumed after a kill. The studies themselves are data:
``synthetic`` (RQ1 to RQ3), ``student`` (RQ4, RQ5) and ``faces`` (RQ6); and, beyond the paper, ``learners``.
"""
