package dev.idgen;

/** What a {@link Route} means. */
public enum RouteState {
  /** The shard owns the node. */
  SETTLED,
  /** In cut-over, and this id has not moved: write to the old shard, read it first, then the new one. */
  OLD_FIRST,
  /** In cut-over, and this id has moved: write to the new shard, read it first, then the old one. */
  NEW_FIRST,
  /** In cut-over, and no id was given: {@code shard} is the old one, {@code second} the new one. */
  ID_DECIDES
}
