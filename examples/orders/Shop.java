import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.idgen.Generator;
import dev.idgen.IdCipher;
import dev.idgen.IdText;
import dev.idgen.IdgenException;
import dev.idgen.Router;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.concurrent.Executors;

/**
 * The shop of shop.py, in Java: the same ids, shards and hidden numbers. {@code java Shop PORT}, in the folder with
 * shop.toml, routes.toml and ids.key. SHARDS says where the shards are: {@code jdbc:sqlite:{name}.db}, the default, or
 * {@code jdbc:mariadb://host:port/{name}?user=...}.
 */
public final class Shop {
  private final Generator orders = Generator.open(Path.of("shop.toml"), "orders");
  private final IdCipher cipher = IdCipher.open(Path.of("shop.toml"), "orders");
  private final Router router =
      Router.open(Path.of("routes.toml"), new Router.Options().layout(orders.layout()));
  private final String url = System.getenv().getOrDefault("JDBC_SHARDS", "jdbc:sqlite:{name}.db");

  /** An order as one shard has it: see shop.py. */
  record Row(String shard, long id, String orderNo, long buyerUid, int books, long version, String movedTo) {
    String shown() {
      return "{\"order_no\": \"%s\", \"buyer_uid\": %d, \"books\": %d, \"version\": %d}"
          .formatted(orderNo, buyerUid, books, version);
    }
  }

  private Connection shard(String name) throws SQLException {
    Connection connection = DriverManager.getConnection(url.replace("{name}", name));
    if (url.startsWith("jdbc:sqlite:")) {
      try (var statement = connection.createStatement()) {
        statement.execute("PRAGMA busy_timeout = 30000");
      }
    }
    return connection;
  }

  Row order(long buyerUid) throws SQLException {
    long id = orders.nextFor(buyerUid);
    String orderNo = IdText.CROCKFORD.format(cipher.hide(id));
    while (true) {
      var row = new Row(router.route(id).shard(), id, orderNo, buyerUid, 1, 1, null);
      try (var connection = shard(row.shard);
          var insert =
              connection.prepareStatement(
                  "INSERT INTO test_order (order_id, order_no, buyer_uid, books, version) VALUES (?, ?, ?, ?, ?)");
          var delete = connection.prepareStatement("DELETE FROM test_order WHERE order_id = ? AND version = 1")) {
        insert.setLong(1, row.id);
        insert.setString(2, row.orderNo);
        insert.setLong(3, row.buyerUid);
        insert.setInt(4, row.books);
        insert.setLong(5, row.version);
        insert.executeUpdate();
        if (router.route(id).shard().equals(row.shard)) return row;
        // The table has changed, and the mover may have looked here for the last time. No customer knows the order yet,
        // so take it back, unless the mover has moved it.
        delete.setLong(1, id);
        if (delete.executeUpdate() == 0) return row;
      }
    }
  }

  private Row look(String shard, long id) throws SQLException {
    try (var connection = shard(shard);
        var select =
            connection.prepareStatement(
                "SELECT order_no, buyer_uid, books, version, moved_to FROM test_order WHERE order_id = ?")) {
      select.setLong(1, id);
      try (var rows = select.executeQuery()) {
        if (!rows.next()) return null;
        return new Row(
            shard, id, rows.getString(1), rows.getLong(2), rows.getInt(3), rows.getLong(4), rows.getString(5));
      }
    }
  }

  /** The order where it is or, while it is moved, what it left behind. Null if there is none. */
  Row find(String orderNo) throws SQLException {
    long id = cipher.reveal(IdText.CROCKFORD.parse(orderNo));
    var route = router.route(id);
    Row newest = null;
    var places = new ArrayList<String>();
    places.add(route.shard());
    if (route.second() != null) places.add(route.second());
    for (int i = 0; i < places.size(); i++) {
      Row row = look(places.get(i), id);
      if (row == null) continue;
      if (row.movedTo == null) return row;
      if (!places.contains(row.movedTo)) places.add(row.movedTo); // the table of this process is old
      if (newest == null || row.version > newest.version) newest = row;
    }
    return newest;
  }

  /** One more book. If the version is no longer the one that was read, look again: maybe the order has moved. */
  Row add(String orderNo) throws SQLException, InterruptedException {
    long end = System.nanoTime() + 60_000_000_000L;
    while (System.nanoTime() < end) {
      Row row = find(orderNo);
      if (row == null) return null;
      if (row.movedTo == null) {
        try (var connection = shard(row.shard);
            var change =
                connection.prepareStatement(
                    "UPDATE test_order SET books = ?, version = version + 1 WHERE order_id = ? AND version = ?")) {
          change.setInt(1, row.books + 1);
          change.setLong(2, row.id);
          change.setLong(3, row.version);
          if (change.executeUpdate() == 1) {
            return new Row(row.shard, row.id, row.orderNo, row.buyerUid, row.books + 1, row.version + 1, null);
          }
        }
      }
      Thread.sleep(10);
    }
    throw new SQLException("order " + orderNo + " has left its shard and not arrived in another; does the mover run?");
  }

  private void answer(HttpExchange exchange) throws IOException {
    int status = 200;
    String body;
    try {
      boolean isPost = exchange.getRequestMethod().equals("POST");
      var uri = exchange.getRequestURI();
      if (uri.getPath().equals("/version")) {
        body = "{\"version\": %d}".formatted(router.stats().version());
      } else if (uri.getPath().equals("/orders")) {
        body = order(Long.parseLong(uri.getQuery().replace("buyer_uid=", ""))).shown();
        status = 201;
      } else {
        String orderNo = uri.getPath().replace("/orders/", "");
        Row row = isPost ? add(orderNo) : find(orderNo);
        body = row == null ? "{\"error\": \"no such order\"}" : row.shown();
        if (row == null) status = 404;
      }
    } catch (IdgenException | SQLException | InterruptedException e) { // an IdgenException: not one of our numbers
      status = e instanceof IdgenException ? 400 : 503;
      body = "{\"error\": \"%s\"}".formatted(e.getMessage().replace("\"", "'"));
    }
    byte[] data = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, data.length);
    try (var out = exchange.getResponseBody()) {
      out.write(data);
    }
  }

  public static void main(String[] arguments) throws IOException {
    var shop = new Shop();
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])), 0);
    server.createContext("/", shop::answer);
    server.setExecutor(Executors.newFixedThreadPool(4));
    server.start();
    System.out.println("the shop is open at port " + server.getAddress().getPort());
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      server.stop(0);
      shop.orders.close();
    }));
  }
}
