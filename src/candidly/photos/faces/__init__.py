"""Finds and embeds faces, behind two small protocols.

1. ``model_files``: the model files, their sources, licences and checksums
2. ``detection``: `YuNet`, over tiles of several scales
3. ``alignment``: aligns faces as an embedder expects them, and rates their quality
4. ``embedding``: `SFace`, or any other ONNX model
5. ``population_file``: how embeddings vary within and between people, in a file

``candidly.photos.parts`` has the protocols of a detector and an embedder. Importing this package
loads no model and no OpenCV; the first call does.
"""

from candidly.photos.faces.detection import YuNet
from candidly.photos.faces.embedding import OnnxEmbedder, SFace
from candidly.photos.faces.model_files import WeightsProblem
from candidly.photos.parts import Detector, Embedder

__all__ = ["Detector", "Embedder", "OnnxEmbedder", "SFace", "WeightsProblem", "YuNet"]
