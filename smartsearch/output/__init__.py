"""All that is printed: JSON records, plain text, terminal text. The only code that knows rich or a stream."""
