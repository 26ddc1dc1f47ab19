"""Runs: many questions answered into a folder, on any number of processes or machines."""
