"""Many questions into a folder: resumable, by worker processes of one machine or by Ray (docs/batch.md)."""
