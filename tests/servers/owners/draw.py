"""Draws ids that have an owner, in Python; draw.c, Draw.java and go/ do the same.

    draw.py TOML NAME COUNT SEED FILE

One id for each of the owners (SEED + n) % 1000003, n = 0 to COUNT - 1, a multiple of 4096, into FILE: 64 bits,
little-endian.
"""

import sys

import idgen
import numpy as np

BATCH = 4096


def main(toml, name, count, seed, path):
    with idgen.open(toml, name) as generator, open(path, "wb") as out:
        for done in range(0, int(count), BATCH):
            generator.next_for_each((np.arange(BATCH) + int(seed) + done) % 1_000_003).tofile(out)


main(*sys.argv[1:])
