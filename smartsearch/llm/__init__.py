"""Talking to a language model: an OpenAI-compatible chat-completions client, and replies kept in a file.

Only `answer`, `bench` and systems with `--llm` use it: search itself needs no language model. What to ask is
for others to say (`ask/answering.py`, `bench/prompts.py`, the systems).
"""

from smartsearch.llm.asking import Asker, Spent, Uncertainty
from smartsearch.llm.client import RETRIES, TIMEOUT, Client, require
from smartsearch.llm.endpoint import Endpoint, Price, judge_endpoint, memory_endpoint, reader_endpoint
from smartsearch.llm.faults import LLMError
from smartsearch.llm.opening import asker, replies_folder
from smartsearch.llm.probe import probe
from smartsearch.llm.replies import Message, Reply, ReplyCache, rough_tokens

__all__ = (
    "RETRIES",
    "TIMEOUT",
    "Asker",
    "Client",
    "Endpoint",
    "LLMError",
    "Message",
    "Price",
    "Reply",
    "ReplyCache",
    "Spent",
    "Uncertainty",
    "asker",
    "judge_endpoint",
    "memory_endpoint",
    "probe",
    "reader_endpoint",
    "replies_folder",
    "require",
    "rough_tokens",
)
