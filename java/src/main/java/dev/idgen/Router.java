package dev.idgen;

import java.lang.ref.Reference;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The table of routes in force: which shard an id belongs to. Safe for use by many threads; a lookup takes no lock. The
 * garbage collector frees its native memory.
 */
public final class Router {
  /** In a batch: no other shard. */
  public static final int NO_SHARD = -1;

  private static final RouteState[] STATES = RouteState.values();

  private final long handle;
  // What is in it never changes; replaced by a longer one when a shard is new.
  private volatile List<String> names = List.of();

  private Router(long handle) {
    this.handle = handle;
    NativeHandle.freeWith(this, handle, IdgenJNI::routerDestroy);
  }

  /** What a router is made with. */
  public static final class Options {
    private Layout layout;
    private Layout wideLayout;
    private GeneRule gene = GeneRule.AUTO;
    private Duration reload = Duration.ofSeconds(1);

    /** A router that routes nodes and owners only. */
    public Options() {}

    /**
     * The layout of ids of up to 64 bits.
     *
     * @param layout one with a gene of at least as many bits as the ring has
     * @return this
     */
    public Options layout(Layout layout) {
      this.layout = layout;
      return this;
    }

    /**
     * The layout of ids of 16 bytes.
     *
     * @param layout one with a gene of at least as many bits as the ring has
     * @return this
     */
    public Options wideLayout(Layout layout) {
      this.wideLayout = layout;
      return this;
    }

    /**
     * How a gene comes from an owner.
     *
     * @param gene the default is {@link GeneRule#AUTO}
     * @return this
     */
    public Options gene(GeneRule gene) {
      this.gene = gene;
      return this;
    }

    /**
     * How often a router of a file looks at it.
     *
     * @param reload zero: only on {@link Router#reload}; the default is a second
     * @return this
     */
    public Options reload(Duration reload) {
      if (reload.isNegative()) throw new IllegalArgumentException("reload is negative: " + reload);
      this.reload = reload;
      return this;
    }
  }

  /**
   * {@return a router of a table; only {@link #swap} changes it}
   *
   * @param table the first one in force
   * @param options what it is made with
   * @throws ConfigException for a layout without a gene, or with one that is narrower than the ring
   */
  public static Router of(RouteTable table, Options options) {
    try {
      return new Router(
          IdgenJNI.routerCreate(
              table.handle, address(options.layout), address(options.wideLayout), options.gene.ordinal()));
    } finally {
      Reference.reachabilityFence(table);
      Reference.reachabilityFence(options);
    }
  }

  /**
   * {@return a router of a TOML file, which it watches} A file that is missing, half written, malformed or older leaves
   * the table in force: {@link #stats} says so.
   *
   * @param tomlPath the file
   * @param options what it is made with
   * @throws ConfigException if the file holds no table, or a layout does not fit the ring
   */
  public static Router open(Path tomlPath, Options options) {
    NativeLoader.require();
    try {
      long ms = options.reload.plusNanos(999_999).toMillis();
      return new Router(
          IdgenJNI.routerOpen(
              Text.utf8(tomlPath.toString()),
              address(options.layout),
              address(options.wideLayout),
              options.gene.ordinal(),
              ms));
    } finally {
      Reference.reachabilityFence(options);
    }
  }

  private static long address(Layout layout) {
    return layout == null ? 0 : layout.handle;
  }

  /**
   * {@return where an id belongs}
   *
   * @param id a plain id of up to 64 bits
   * @throws ConfigException for bits outside the layout, or without a layout for such ids
   */
  public Route route(long id) {
    try {
      var out = new long[Route.NUMBERS];
      IdgenJNI.route(handle, id, out);
      return routeOf(out);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * {@return where an id of either length belongs}
   *
   * @param id a plain id of 8 or 16 bytes
   * @throws ConfigException for bits outside the layout, or without a layout for such ids
   */
  public Route route(WideId id) {
    try {
      var out = new long[Route.NUMBERS];
      IdgenJNI.routeWide(handle, id.toBytes(), out);
      return routeOf(out);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Where a node belongs.
   *
   * @param node the low bits of a gene
   * @return where to write and read; on a node in cut-over the id decides
   * @throws ConfigException for a node beyond the ring
   */
  public Route routeNode(int node) {
    try {
      var out = new long[Route.NUMBERS];
      IdgenJNI.routeNode(handle, node, out);
      return routeOf(out);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Where an owner's ids belong.
   *
   * @param owner bytes of any kind; text is UTF-8, an integer its decimal text
   * @return where to write and read; on a node in cut-over the id decides
   * @throws ConfigException for an owner without bytes, or, with {@link GeneRule#MOD}, one that is no integer
   */
  public Route routeOwner(byte[] owner) {
    try {
      var out = new long[Route.NUMBERS];
      IdgenJNI.routeOwner(handle, owner, out);
      return routeOf(out);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Where an owner's ids belong.
   *
   * @param owner a text
   * @return as {@link #routeOwner(byte[])}
   */
  public Route routeOwner(String owner) {
    return routeOwner(Text.owner(owner));
  }

  /**
   * Where an owner's ids belong.
   *
   * @param owner the same owner as its decimal text
   * @return as {@link #routeOwner(byte[])}
   */
  public Route routeOwner(long owner) {
    return routeOwner(String.valueOf(owner));
  }

  /**
   * The shards of many ids, all by one table.
   *
   * @param ids plain ids of up to 64 bits
   * @param shards gets where to write and look first, as indexes of {@link #shards}; at least as long as ids
   * @param seconds gets where to look next, or {@link #NO_SHARD}; at least as long as ids; may be null
   * @throws ConfigException for the first id that cannot be routed: the message names its position
   */
  public void routeBatch(long[] ids, int[] shards, int[] seconds) {
    checkLength(ids.length, shards, seconds);
    try {
      IdgenJNI.routeBatch(handle, ids, shards, seconds);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * {@link #routeBatch} for nodes.
   *
   * @param nodes of the ring
   * @param shards as there
   * @param seconds as there
   */
  public void routeNodeBatch(int[] nodes, int[] shards, int[] seconds) {
    checkLength(nodes.length, shards, seconds);
    try {
      IdgenJNI.routeNodeBatch(handle, nodes, shards, seconds);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private static void checkLength(int wanted, int[] shards, int[] seconds) {
    if (shards.length < wanted || (seconds != null && seconds.length < wanted)) {
      throw new IllegalArgumentException("there are " + wanted + " ids; the arrays of results are shorter");
    }
  }

  /**
   * {@return the names of all shards that the router has ever known; an index keeps its meaning as long as it lives}
   */
  public List<String> shards() {
    return shardsUpTo((int) ((long[]) rawStats()[0])[2]);
  }

  /** {@return a copy of the table in force} */
  public RouteTable table() {
    try {
      return new RouteTable(IdgenJNI.routerTable(handle));
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Puts a table into force: compare and set.
   *
   * @param table one with a higher version and a ring of the same size
   * @param expectedVersion the version that must be in force
   * @throws StaleException if it is another one; the message names both
   * @throws ConfigException if the table cannot follow
   */
  public void swap(RouteTable table, long expectedVersion) {
    try {
      IdgenJNI.routerSwap(handle, table.handle, expectedVersion);
    } finally {
      Reference.reachabilityFence(table);
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Looks at the file now. On failure the table in force stays.
   *
   * @throws ConfigException if the file holds no table, or the router is not of a file
   * @throws StaleException if its version is not above, and its content is another
   */
  public void reload() {
    try {
      IdgenJNI.routerReload(handle);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** {@return what is in force now, and how the latest look at the file went} */
  public RouterStats stats() {
    return RouterStats.of(rawStats());
  }

  private Object[] rawStats() {
    try {
      var parts = new Object[2];
      IdgenJNI.routerStats(handle, parts);
      return parts;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private Route routeOf(long[] n) {
    return new Route(name((int) n[0]), name((int) n[1]), STATES[(int) n[2]], (int) n[3], n[4]);
  }

  private String name(int index) {
    if (index == NO_SHARD) return null;
    var known = names;
    return index < known.size() ? known.get(index) : shardsUpTo(index + 1).get(index);
  }

  private synchronized List<String> shardsUpTo(int count) {
    if (names.size() < count) {
      var all = new ArrayList<>(names);
      while (all.size() < count) all.add(Text.string(IdgenJNI.routerShard(handle, all.size())));
      names = List.copyOf(all);
    }
    Reference.reachabilityFence(this);
    return names;
  }
}
