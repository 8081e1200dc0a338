"""Processes with limits, in which programs of strangers are compiled; and the cache of results."""
