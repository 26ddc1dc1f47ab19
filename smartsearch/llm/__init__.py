"""Talking to a language model: an OpenAI-compatible chat-completions client, and replies kept in a file.

Only `answer` and `bench` use it: search itself needs no language model. What to ask is for others to say
(`answering.py`, `bench/prompts.py`).
"""

from smartsearch.llm.client import RETRIES, TIMEOUT, Client, require
from smartsearch.llm.endpoint import Endpoint, judge_endpoint, reader_endpoint
from smartsearch.llm.faults import LLMError
from smartsearch.llm.replies import Message, Reply, ReplyCache, rough_tokens

__all__ = (
    "RETRIES",
    "TIMEOUT",
    "Client",
    "Endpoint",
    "LLMError",
    "Message",
    "Reply",
    "ReplyCache",
    "judge_endpoint",
    "reader_endpoint",
    "require",
    "rough_tokens",
)
