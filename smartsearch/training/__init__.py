"""How the shipped rankers are made: data, cross-encoder, ColBERT and export. Not imported by search."""
