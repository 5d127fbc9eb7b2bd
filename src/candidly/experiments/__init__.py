"""Measurements: declared, seeded, repeatable."""
