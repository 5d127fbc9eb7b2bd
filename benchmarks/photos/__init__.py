"""How well photos are taken in and named."""
