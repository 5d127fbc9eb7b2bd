"""Faces found and embedded, behind two small protocols.

1. ``weights``: the model files, whose they are, and whether they are the right ones
2. ``scales``: a picture as overlapping tiles at several scales
3. ``merging``: one face, seen at several scales, is one face
4. ``yunet``: the detector; ``quality`` says how much a face is worth
5. ``alignment``: eyes, nose and mouth to where an embedder expects them
6. ``sface``: the embedder, and any other ONNX model in its place

Importing this loads no model and no OpenCV; the first call does.
"""

from candidly.photos.faces.protocols import Detector, Embedder
from candidly.photos.faces.sface import OnnxEmbedder, SFace
from candidly.photos.faces.weights import WeightsProblem
from candidly.photos.faces.yunet import YuNet

__all__ = ["Detector", "Embedder", "OnnxEmbedder", "SFace", "WeightsProblem", "YuNet"]
