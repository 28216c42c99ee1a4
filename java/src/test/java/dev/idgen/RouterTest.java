package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RouterTest {
  private static final List<String> SHARDS = List.of("db0", "db1");
  private static final List<RouteRange> RANGES = List.of(new RouteRange(7, "db0"), new RouteRange(15, "db1"));

  private static RouteTable table(long version, RouteMove... moves) {
    return RouteTable.of(version, 4, SHARDS, RANGES, List.of(moves));
  }

  private static Router.Options order() {
    return new Router.Options().layout(Layout.parse("order"));
  }

  private static void assertSays(String part, IdgenException e) {
    assertTrue(e.getMessage().contains(part), e.getMessage());
  }

  @Test
  void everyRowOfTheVectorsIsWhatTheSlowReferenceSays() {
    Map<String, Router> routers = new HashMap<>();
    Map.of("routes_ring16.toml", "business64", "routes_ring4.toml", "order").forEach((file, layout) -> {
      var options = new Router.Options().layout(Layout.parse(layout)).wideLayout(Layout.parse("business128"));
      routers.put(file, Router.open(Vectors.file(file), options.reload(Duration.ZERO)));
    });
    for (String[] row : Vectors.rows("routes.tsv")) {
      var router = routers.get(row[0]);
      var shards = new int[] {-1};
      var seconds = new int[] {-1};
      var route =
          switch (row[1]) {
            case "id" -> {
              router.routeBatch(new long[] {Vectors.unsigned(row[2])}, shards, seconds);
              yield router.route(Vectors.unsigned(row[2]));
            }
            case "wide" -> router.route(WideId.of(HexFormat.of().parseHex(row[2])));
            case "node" -> {
              router.routeNodeBatch(new int[] {Integer.parseInt(row[2])}, shards, seconds);
              yield router.routeNode(Integer.parseInt(row[2]));
            }
            default -> router.routeOwner(row[2].replace('\u2400', '\0'));
          };
      var second = row[5].equals("-") ? null : row[5];
      var state = RouteState.valueOf(row[6].toUpperCase(Locale.ROOT));
      var wanted = new Route(row[4], second, state, Integer.parseInt(row[3]), router.stats().version());
      assertEquals(wanted, route, String.join(" ", row));
      if (row[1].equals("wide") || row[1].equals("owner")) continue;
      assertEquals(row[4], router.shards().get(shards[0]));
      assertEquals(row[5], seconds[0] == Router.NO_SHARD ? "-" : router.shards().get(seconds[0]));
    }
  }

  @Test
  void aTableIsWhatItWasMadeOf(@TempDir Path folder) throws IOException {
    var move = new RouteMove(0, 3, "db1", 5000);
    var made = table(7, move);
    assertEquals(7, made.version());
    assertEquals(4, made.bits());
    assertEquals(SHARDS, made.shards());
    assertEquals(RANGES, made.ranges());
    assertEquals(List.of(move), made.moves());
    var file = folder.resolve("routes.toml");
    made.write(file, 0);
    assertEquals(made, RouteTable.read(file));
    assertEquals(made.hashCode(), RouteTable.read(file).hashCode());
    assertEquals(made.toString(), Files.readString(file));
    assertNotEquals(made, table(8, move));
  }

  @Test
  void aSwapNeedsTheVersionInForce() {
    var router = Router.of(table(1), new Router.Options());
    router.swap(RouteTable.of(2, 4, List.of("new", "db1"), List.of(new RouteRange(15, "new")), List.of()), 1);
    assertSays(
        "version 1 was to be replaced, and version 2 is in force",
        assertThrows(StaleException.class, () -> router.swap(table(3), 1)));
    assertEquals(List.of("db0", "db1", "new"), router.shards());
    assertEquals("new", router.routeNode(3).shard());
    assertEquals(2, router.table().version());
    assertEquals(1, router.stats().swaps());
    assertSays("from data", assertThrows(ConfigException.class, router::reload));
  }

  @Test
  void aRouterTakesANewFileByItselfOrWhenItIsTold(@TempDir Path folder) throws Exception {
    var file = folder.resolve("routes.toml");
    assertThrows(ConfigException.class, () -> Router.open(file, order()));
    table(1).write(file, 0);
    var router = Router.open(file, order().reload(Duration.ZERO));
    var reloading = Router.open(file, order().reload(Duration.ofMillis(10)));
    table(2).write(file, 1);
    while (reloading.stats().version() == 1) Thread.sleep(5);
    assertEquals(1, router.stats().version());
    router.reload();
    assertEquals(2, router.stats().version());
    assertEquals("", router.stats().lastError());
    Files.writeString(file, table(3).toString().substring(0, 60));
    assertThrows(ConfigException.class, router::reload);
    var stats = router.stats();
    assertEquals(List.of(2L, 1L, 1L), List.of(stats.version(), stats.swaps(), stats.failures()));
    assertEquals(Status.CONFIG_FILE, stats.lastStatus());
    assertTrue(stats.lastError().contains(file.toString()));
    assertNotNull(stats.lastFailure());
  }

  @Test
  void aLookupIsTheSameInWhicheverFormItIsAsked() {
    var router = Router.of(table(1), order());
    assertEquals(router.route(9), router.route(WideId.of(9)));
    assertEquals(router.routeOwner("42"), router.routeOwner(42));
    var shards = new int[] {7, 7, 7, 7};
    router.routeBatch(new long[] {5, 9, 21}, shards, null); // of the nodes 5, 9 and 5
    assertArrayEquals(new int[] {0, 1, 0, 7}, shards);
    router.routeNodeBatch(new int[] {9, 5}, shards, null);
    assertArrayEquals(new int[] {1, 0, 0, 7}, shards);
  }

  @Test
  void badArgumentsAreRefused() {
    var router = Router.of(table(1), order());
    assertSays(
        "ids[1]: ",
        assertThrows(ConfigException.class, () -> router.routeBatch(new long[] {1, -1}, new int[2], null)));
    assertThrows(IllegalArgumentException.class, () -> router.routeBatch(new long[2], new int[1], null));
    assertThrows(IllegalArgumentException.class, () -> new Router.Options().reload(Duration.ofMillis(-1)));
  }
}
