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
import java.util.concurrent.Executors;

/**
 * The shop of shop.py, in Java: the same ids, shards and hidden numbers. {@code java Shop PORT}, in the folder with
 * shop.toml, routes.toml and ids.key. SHARDS says where the shards are: {@code jdbc:sqlite:{name}.db}, the default, or
 * {@code jdbc:mariadb://host:port/{name}?user=...}.
 */
public final class Shop {
  private static final String TABLE =
      "CREATE TABLE IF NOT EXISTS test_order "
          + "(order_id BIGINT PRIMARY KEY, customer BIGINT NOT NULL, item VARCHAR(40))";

  private final Generator orders = Generator.open(Path.of("shop.toml"), "orders");
  private final IdCipher cipher = IdCipher.open(Path.of("shop.toml"), "orders");
  private final Router router =
      Router.open(Path.of("routes.toml"), new Router.Options().layout(orders.layout()));
  private final String url = System.getenv().getOrDefault("JDBC_SHARDS", "jdbc:sqlite:{name}.db");

  private Connection shard(String name) throws SQLException {
    Connection connection = DriverManager.getConnection(url.replace("{name}", name));
    try (var statement = connection.createStatement()) {
      if (url.startsWith("jdbc:sqlite:")) statement.execute("PRAGMA busy_timeout = 30000");
      statement.execute(TABLE);
    }
    return connection;
  }

  String order(long customer, String item) throws SQLException {
    long id = orders.nextFor(customer);
    try (var connection = shard(router.route(id).shard());
        var insert =
            connection.prepareStatement("INSERT INTO test_order (order_id, customer, item) VALUES (?, ?, ?)")) {
      insert.setLong(1, id);
      insert.setLong(2, customer);
      insert.setString(3, item);
      insert.executeUpdate();
    }
    return IdText.BASE62.format(cipher.hide(id));
  }

  /** Null if there is no such order. */
  String find(String hidden) throws SQLException {
    long id = cipher.reveal(IdText.BASE62.parse(hidden));
    var route = router.route(id);
    // While nodes are in cut-over the row may be in either shard, and be copied between the two looks.
    for (String shard : new String[] {route.shard(), route.second(), route.shard()}) {
      if (shard == null) break;
      try (var connection = shard(shard);
          var select = connection.prepareStatement("SELECT customer, item FROM test_order WHERE order_id = ?")) {
        select.setLong(1, id);
        try (var rows = select.executeQuery()) {
          if (rows.next()) {
            return "{\"order\": \"%s\", \"customer\": %d, \"item\": \"%s\", \"shard\": \"%s\"}"
                .formatted(hidden, rows.getLong(1), rows.getString(2), shard);
          }
        }
      }
    }
    return null;
  }

  private void answer(HttpExchange exchange) throws IOException {
    int status = 500;
    String body;
    try {
      if (exchange.getRequestMethod().equals("POST")) {
        long customer = Long.parseLong(exchange.getRequestURI().getQuery().replace("customer=", ""));
        body = "{\"order\": \"%s\"}".formatted(order(customer, "a book"));
        status = 201;
      } else {
        body = find(exchange.getRequestURI().getPath().replace("/orders/", ""));
        status = body == null ? 404 : 200;
        if (body == null) body = "{\"error\": \"no such order\"}";
      }
    } catch (IdgenException e) { // no id at all, or not one of ours
      status = 400;
      body = "{\"error\": \"%s\"}".formatted(e.getMessage().replace("\"", "'"));
    } catch (SQLException e) {
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
    server.createContext("/orders", shop::answer);
    server.setExecutor(Executors.newFixedThreadPool(4));
    server.start();
    System.out.println("the shop is open: http://127.0.0.1:" + server.getAddress().getPort() + "/orders");
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      server.stop(0);
      shop.orders.close();
    }));
  }
}
