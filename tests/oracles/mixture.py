"""Batches from two Python lists, one row at a time."""


def batch(real, imagined, which, index):
    """Row k comes from the imagined list where `which[k]`, at place `index[k]` of that list."""
    return [(imagined if w else real)[i] for w, i in zip(which, index, strict=True)]
