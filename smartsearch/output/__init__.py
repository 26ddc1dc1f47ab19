"""Prints answers as JSON, plain text and terminal text. No other code uses rich or writes to a stream."""
