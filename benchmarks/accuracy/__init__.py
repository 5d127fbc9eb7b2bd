"""Labelling error, calibration and comparisons on the library's data sets."""
