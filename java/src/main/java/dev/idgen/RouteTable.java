package dev.idgen;

import java.lang.ref.Reference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Which shard has which nodes of a ring. Immutable, and safe for use by many threads. The garbage collector frees its
 * native memory.
 */
public final class RouteTable {
  final long handle;

  RouteTable(long handle) {
    this.handle = handle;
    NativeHandle.freeWith(this, handle, IdgenJNI::routeTableDestroy);
  }

  /**
   * {@return a table from data}
   *
   * @param version 1 to 2^63 - 1, each table's above the one before
   * @param bits 1 to 23: the ring has 2^bits nodes
   * @param shards names of all shards
   * @param ranges in ascending order; the last one ends at node 2^bits - 1
   * @param moves nodes in cut-over, in any order
   * @throws ConfigException for a gap, a wrong order, overlapping moves and the like: the message says where
   */
  public static RouteTable of(
      long version, int bits, List<String> shards, List<RouteRange> ranges, List<RouteMove> moves) {
    NativeLoader.require();
    var names = new byte[shards.size()][];
    for (int i = 0; i < names.length; i++) names[i] = Text.utf8(shards.get(i));
    return new RouteTable(
        IdgenJNI.routeTableCreate(
            version,
            bits,
            names,
            ranges.stream().mapToInt(RouteRange::upto).toArray(),
            ranges.stream().mapToInt(range -> index(shards, range.shard())).toArray(),
            moves.stream().mapToInt(RouteMove::first).toArray(),
            moves.stream().mapToInt(RouteMove::last).toArray(),
            moves.stream().mapToInt(move -> index(shards, move.to())).toArray(),
            moves.stream().mapToInt(RouteMove::share).toArray()));
  }

  private static int index(List<String> shards, String shard) {
    int index = shards.indexOf(shard);
    if (index >= 0) return index;
    throw Errors.of(Status.VALUE, Text.utf8("'" + shard + "' is not one of the table's shards"), 0, 0, 0);
  }

  /**
   * {@return a table from a TOML file}
   *
   * @param tomlPath the file
   * @throws ConfigException if it is missing, unreadable, malformed, half written, or no valid table
   */
  public static RouteTable read(Path tomlPath) {
    NativeLoader.require();
    return new RouteTable(IdgenJNI.routeTableRead(Text.utf8(tomlPath.toString())));
  }

  /**
   * Replaces a table's file, whole or not at all.
   *
   * @param tomlPath the file
   * @param expectedVersion the version that the file must have; 0: there must be no file yet
   * @throws StaleException if it has another one: of two writers with the same expectation one succeeds
   * @throws ConfigException if this version is not above the expected one, or what is there is no table
   * @throws StoreException if it cannot be written
   */
  public void write(Path tomlPath, long expectedVersion) {
    try {
      IdgenJNI.routeTableWrite(handle, Text.utf8(tomlPath.toString()), expectedVersion);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** {@return the table's version, 1 or more} */
  public long version() {
    return info()[0];
  }

  /** {@return the size of the ring, which has 2^bits nodes} */
  public int bits() {
    return (int) info()[1];
  }

  /** {@return the names of all shards, in the order of the table} */
  public List<String> shards() {
    try {
      var names = new ArrayList<String>();
      for (int i = 0; i < info()[2]; i++) names.add(Text.string(IdgenJNI.routeTableShard(handle, i)));
      return List.copyOf(names);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** {@return what each shard owns, in the order of the nodes} */
  public List<RouteRange> ranges() {
    try {
      var names = shards();
      var ranges = new ArrayList<RouteRange>();
      var n = new long[2];
      long count = info()[3];
      for (int i = 0; i < count; i++) {
        IdgenJNI.routeTableRange(handle, i, n);
        ranges.add(new RouteRange((int) n[0], names.get((int) n[1])));
      }
      return List.copyOf(ranges);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** {@return what is in cut-over, in the order of the nodes} */
  public List<RouteMove> moves() {
    try {
      var names = shards();
      var moves = new ArrayList<RouteMove>();
      var n = new long[4];
      long count = info()[4];
      for (int i = 0; i < count; i++) {
        IdgenJNI.routeTableMove(handle, i, n);
        moves.add(new RouteMove((int) n[0], (int) n[1], names.get((int) n[2]), (int) n[3]));
      }
      return List.copyOf(moves);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private long[] info() {
    try {
      var numbers = new long[5];
      IdgenJNI.routeTableInfo(handle, numbers);
      return numbers;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** {@return the content of the table's file, in TOML} */
  @Override
  public String toString() {
    try {
      return Text.string(IdgenJNI.routeTableText(handle));
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RouteTable table && toString().equals(table.toString());
  }

  @Override
  public int hashCode() {
    return toString().hashCode();
  }
}
