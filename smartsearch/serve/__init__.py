"""Processes that stay: the warm socket and MCP."""
