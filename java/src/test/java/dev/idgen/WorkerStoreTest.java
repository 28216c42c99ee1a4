package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Workers on a store of the program's own; tests/servers has those of {@link SqlStore} with real servers. */
class WorkerStoreTest {
  /** The rows of one namespace in memory. */
  static class Table implements WorkerStore {
    final Map<Long, WorkerRow> rows = new TreeMap<>();
    final Map<Long, Long> leases = new HashMap<>();
    String format = "";
    RuntimeException failure;
    String holder; // in place of the real one

    @Override
    public long segmentTake(String namespace, String tag, long count) {
      throw IdgenException.of(Status.UNSUPPORTED, "workers only");
    }

    @Override
    public synchronized String namespaceFormat(String namespace, String asked) {
      if (format.isEmpty()) format = asked;
      return format;
    }

    @Override
    public synchronized WorkerRow workerRead(String namespace, long worker) {
      if (failure != null) throw failure;
      long now = System.currentTimeMillis();
      var row = rows.getOrDefault(worker, new WorkerRow(worker, 0, "", 0, 0, 0, now, ""));
      return new WorkerRow(worker, row.fence(), row.owner(), row.hwMs(), leases.getOrDefault(worker, 0L) - now,
          row.clockAheadMs(), now, holder == null ? row.holder() : holder);
    }

    @Override
    public synchronized List<WorkerRow> workerList(String namespace) {
      var all = new ArrayList<WorkerRow>();
      for (long worker : rows.keySet()) all.add(workerRead(namespace, worker));
      return all;
    }

    @Override
    public synchronized boolean workerReplace(String namespace, WorkerChange change) {
      assertEquals("shop", namespace);
      var row = rows.get(change.worker());
      boolean asSeen =
          row == null
              ? change.seenFence() == 0
              : row.fence() == change.seenFence()
                  && row.owner().equals(change.seenOwner())
                  && row.hwMs() == change.seenHwMs();
      long now = System.currentTimeMillis();
      if (!asSeen || change.nowMs() - now > change.maxLeadMs()) return false;
      leases.put(change.worker(), now + change.leaseMs());
      rows.put(change.worker(), new WorkerRow(change.worker(), change.fence(), change.owner(), change.hwMs(), 0,
          change.nowMs() - now, now, change.holder()));
      return true;
    }
  }

  private static Generator.Builder on(Store store, String worker) {
    return Generator.builder().namespace("shop").set("worker", worker).set("worker_wait", "0ms").store(store);
  }

  private static IdgenException failure(Store store) {
    return assertThrows(IdgenException.class, () -> on(store, "7").waitMax(Duration.ZERO).build());
  }

  @Test
  void aWorkerHasOneOwnerAtATimeAndIsGivenBack() {
    var table = new Table();
    long id;
    try (var first = on(table, "7").build()) {
      id = first.next();
      assertEquals(7, first.decode(id).worker());
      var row = table.workerRead("shop", 7);
      assertEquals(1, row.fence());
      assertEquals(32, row.owner().length());
      assertTrue(row.isLive());
      assertTrue(row.hwMs() > row.storeNowMs());
      var busy = assertThrows(WorkerBusyException.class, () -> on(table, "7").build());
      assertTrue(busy.getMessage().startsWith("worker 7 of namespace 'shop' is owned by process "), busy::getMessage);
    }
    assertEquals("", table.rows.get(7L).owner());
    assertTrue(table.rows.get(7L).holder().startsWith("process "));
    try (var second = on(table, "7").build()) {
      assertTrue(second.next() > id);
    }
    assertEquals(2, table.rows.get(7L).fence());
  }

  @Test
  void aWorkerThatIsAutoIsLeased() {
    var table = new Table();
    try (var first = on(table, "auto").build();
        var second = on(table, "auto").build()) {
      assertNotEquals(first.decode(first.next()).worker(), second.decode(second.next()).worker());
      assertEquals(2, table.workerList("shop").size());
    }
    var of8 = on(table, "1").layout("time:41ms worker:8 sequence:14");
    assertEquals(Status.FORMAT_MISMATCH, assertThrows(StoreException.class, of8::build).status());
  }

  @Test
  void whatTheStoreThrowsIsTheCause() {
    var table = new Table();
    table.failure = new IllegalStateException("away");
    var failed = failure(table);
    assertEquals(Status.HOST, failed.status());
    assertSame(table.failure, failed.getCause());
    table.failure = IdgenException.of(Status.STORE_MISSING, "no table here");
    var missing = assertInstanceOf(StoreException.class, failure(table));
    assertEquals("no table here", missing.getMessage());
  }

  @Test
  void rowsThatCannotBeAreRefusedAndLongTextsAreCut() {
    var table = new Table();
    table.rows.put(7L, new WorkerRow(7, 1, "me", 0, 0, 0, 0, ""));
    assertEquals(Status.STORE_DAMAGED, failure(table).status());
    table.rows.put(7L, new WorkerRow(7, 1, "f".repeat(32), 0, 0, 0, 0, ""));
    table.leases.put(7L, Long.MAX_VALUE);
    table.holder = "ü".repeat(200);
    var busy = assertThrows(WorkerBusyException.class, () -> on(table, "7").build());
    assertTrue(busy.getMessage().contains("is owned by " + "ü".repeat(63) + ";"), busy::getMessage);
  }
}
