"""Methods by name, and the contract each of them keeps."""

from candidly.methods.registry import Method, describe, get, names

__all__ = ["Method", "describe", "get", "names"]
