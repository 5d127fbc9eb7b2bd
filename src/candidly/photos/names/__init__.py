"""People named in a text."""
