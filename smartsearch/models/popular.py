"""Small rankers of the model hub that people use, and what to know of each: the table of docs/cli.md.

Nothing is decided by it: prefixes and lengths are read from a model's own folder when it is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Popular:
    """Rankers that differ in size alone: `id` with a star, `sizes` what stands for it.

    `reads` is in tokens, as their publishers say.
    """

    id: str
    sizes: tuple[str, ...]
    role: str
    architecture: str
    tokenizer: str
    reads: str
    quirk: str


POPULAR = (
    Popular(
        "cross-encoder/ms-marco-MiniLM-*-v2",
        ("L6 (23 M parameters)", "L12 (33 M)"),
        *("crossencoder", "BERT", "WordPiece", "512"),
        quirk="made for raw scores; smartsearch takes their sigmoid, which keeps the order",
    ),
    Popular(
        "cross-encoder/ettin-reranker-*-v1",
        ("17m", "32m", "68m", "150m"),
        *("crossencoder", "ModernBERT", "BPE", "7,999"),
        quirk="the head in modules of its own, settings of transformers 5: older libraries misread both",
    ),
    Popular(
        "mixedbread-ai/mxbai-rerank-*-v1",
        ("xsmall (71 M)", "base (184 M)", "large (435 M)"),
        *("crossencoder", "DeBERTa", "Unigram", "512"),
        quirk="large is the paper's; -v2 are language models and refused",
    ),
    Popular(
        "answerdotai/answerai-colbert-*-v1",
        ("small (33 M)",),
        *("colbert", "BERT", "WordPiece", "question 32 behind `[unused0]`, turn 300 behind `[unused1]`"),
        quirk="the paper's; the projection lies among the encoder's weights",
    ),
    Popular(
        "mixedbread-ai/mxbai-edge-colbert-v0-*",
        ("17m", "32m"),
        *("colbert", "ModernBERT", "BPE", "question 48 behind `[Q] `, turn 512 behind `[D] `"),
        quirk="lower-cases; several projections; what PyLate 1.2 leaves out of such settings is obeyed",
    ),
)
