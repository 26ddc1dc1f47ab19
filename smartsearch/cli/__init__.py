"""What is typed: options to a request, exit code out; one file a verb."""
