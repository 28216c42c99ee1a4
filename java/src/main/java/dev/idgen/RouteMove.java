package dev.idgen;

/**
 * Nodes of a ring in cut-over.
 *
 * @param first the first node
 * @param last the last node, inclusive
 * @param to the name of the shard to which they move
 * @param share how much of each node has moved, in ten-thousandths
 */
public record RouteMove(int first, int last, String to, int share) {}
