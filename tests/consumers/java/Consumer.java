import dev.idgen.Generator;

/** Somebody else's program: makes ids and checks them. */
public final class Consumer {
  public static void main(String[] args) {
    try (Generator events =
        Generator.builder().kind("snowflake").worker(7).store("sqlite:ids.db").storeCreate(true).build()) {
      long[] ids = events.nextBatch(10_000);
      for (int i = 1; i < ids.length; i++) {
        if (ids[i] <= ids[i - 1]) throw new AssertionError(ids[i] + " after " + ids[i - 1]);
      }
      if (events.decode(ids[0]).worker() != 7) throw new AssertionError(ids[0] + " is not of worker 7");
      System.out.println(ids[0]);
    }
    try (Generator orders =
        Generator.builder().kind("segment").tag("orders").store("sqlite:ids.db").storeCreate(true).build()) {
      long first = orders.next();
      if (first != 1) throw new AssertionError("a new segment tag begins with " + first + ", not with 1");
    }
  }
}
