package dev.idgen;

/**
 * Where an id belongs. Write to {@code shard}; read from {@code shard}, and what is not found there from
 * {@code second}.
 *
 * @param shard the shard's name
 * @param second the other shard's name while the node is in cut-over, else null
 * @param state what the two are
 * @param node the node of the ring
 * @param version of the table that said so
 */
public record Route(String shard, String second, RouteState state, int node, long version) {
  /** Length of the array that the natives fill. */
  static final int NUMBERS = 5;
}
