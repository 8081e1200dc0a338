"""``python -m problog4fairness.app.cli`` is ``p4f``."""

from problog4fairness.app.cli.main import main

main()
