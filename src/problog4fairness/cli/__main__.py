"""``python -m problog4fairness.cli`` is ``p4f``."""

from problog4fairness.cli.main import main

main()
