"""Words and dates: what is read out of text, whatever it is a text of."""
