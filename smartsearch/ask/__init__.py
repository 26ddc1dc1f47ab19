"""One question, many questions, an answer in prose."""
