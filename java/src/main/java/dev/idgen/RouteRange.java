package dev.idgen;

/**
 * Nodes of a ring, and the shard that owns them.
 *
 * @param upto the last node, inclusive; the first one follows the end of the range before
 * @param shard the shard's name
 */
public record RouteRange(int upto, String shard) {}
