"""Pictures of a decomposition, small enough to be kept with the results."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.estimators.scaling import FeatureScaler

SHOWN = 8
ROWS = ("original", "X, equalised", "Z, low rank", "E_X, noise")


def parts(model: Any, X: NDArray[np.floating]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return Z and E_X in the unit of X, one row per instance; Z includes the mean."""
    used = model.setting_
    scaler = FeatureScaler(center=used.center, standardize=used.standardize, norm=used.norm).fit(X)
    Z = scaler.inverse_transform(model.solution_.features.T)
    return Z, X - Z


def stored(images: NDArray[Any], *features: NDArray[Any]) -> dict[str, Any]:
    """Return some pictures of each kind as text: grey values of one byte each, compressed."""
    rows = np.linspace(0, len(images) - 1, SHOWN).astype(int)
    shape = images.shape[1:]
    kinds = [images[rows].astype(float) / max(float(images.max()), 1)]
    kinds += [part[rows].reshape(SHOWN, *shape) for part in features]
    kinds[-1] = kinds[-1] + 0.5  # noise has both signs: grey is none
    grey = (np.clip(np.stack(kinds), 0, 1) * 255).round().astype(np.uint8)
    packed = base64.b64encode(zlib.compress(grey.tobytes(), 9)).decode()
    return {"shape": list(grey.shape), "bytes": packed}


def read(kept: dict[str, Any]) -> NDArray[np.uint8]:
    """Return the stored pictures: kind x picture x height x width."""
    data = zlib.decompress(base64.b64decode(kept["bytes"]))
    return np.frombuffer(data, np.uint8).reshape(kept["shape"])
