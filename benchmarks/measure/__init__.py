"""The parts of benchmarks/engine.py: what is compared, how it is timed, and how the result is shown."""
