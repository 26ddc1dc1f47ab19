"""Agents' own configurations: `smartsearch mcp` put in and taken out, the rest left as it is."""
