"""Evaluation sets: cases in, their checks, hashes and orders out. Pure values; no environment is run in here."""
