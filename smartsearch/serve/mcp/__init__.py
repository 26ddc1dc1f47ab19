"""The agent door: an MCP server over standard input and output, three tools that only read (docs/mcp.md)."""
