"""The warm process: a server on a private socket that holds the models, and the client that `query` uses."""
