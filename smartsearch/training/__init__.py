"""What `smartsearch train` needs: data, cross-encoder, ColBERT and export. Not imported by search."""

import os

# A model that is loaded or saved is looked up in the model hub by its folder's name, for its card. The hub's
# client reads this when it is first imported.
os.environ["HF_HUB_OFFLINE"] = "1"
