package dev.idgen;

/** How a gene comes from an id's owner. The order is that of IDGEN_GENE_* in idgen.h. */
public enum GeneRule {
  /**
   * {@link #MOD} if time is above and the gene is the lowest field, as in the layout {@code order}; else {@link #HASH}.
   */
  AUTO,
  /** The low bits of XXH64 ^ MurmurHash64A of the owner's bytes. */
  HASH,
  /** The low bits of the owner itself, an integer from 0 to 2^64 - 1. */
  MOD
}
