"""The process: endings, deadlines, lazy imports, private folders."""
