package dev.idgen;

import com.alibaba.druid.pool.DruidDataSource;
import com.alibaba.druid.wall.WallConfig;
import com.alibaba.druid.wall.WallFilter;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.sql.DataSource;

/** The twin of tests/servers/host_drawing.py, which says what it does. Run by tests/servers/test_host_stores.py. */
final class HostDrawing {
  /** However busy the machine is. */
  private static final Duration PATIENCE =
      Duration.ofSeconds(Math.round(30 * Double.parseDouble(System.getenv().getOrDefault("IDGEN_PATIENCE", "1"))));

  private HostDrawing() {}

  public static void main(String[] arguments) throws Exception {
    var properties = new LinkedHashMap<String, String>();
    for (String pair : Arrays.copyOfRange(arguments, 2, arguments.length)) {
      properties.put(pair.substring(0, pair.indexOf('=')), pair.substring(pair.indexOf('=') + 1));
    }
    String autocommit = properties.getOrDefault("pool.autocommit", "true");
    String broken = properties.get("pool.broken");
    String driver = properties.get("pool.driver");
    String wall = properties.get("pool.wall"); // Druid with this filter: its settings
    String drivers = properties.get("pool.drivers"); // jars that only the thread which opens the store can see
    if (drivers != null) {
      Thread.currentThread().setContextClassLoader(new URLClassLoader(urls(drivers)));
    }
    properties.keySet().removeIf(key -> key.startsWith("pool."));
    var scenes = Set.of("tags", "draw", "inside", "emptied", "cause", "tables", "workers");
    if (scenes.contains(arguments[1])) {
      var url = URI.create(arguments[0]);
      boolean commits = Boolean.parseBoolean(autocommit);
      var pool = wall == null ? pool(url, commits, PATIENCE) : filteredPool(url, commits, driver, wall);
      scene(arguments[1], pool, properties);
      return;
    }
    var builder = Generator.builder();
    if (!arguments[0].equals("native")) {
      DataSource pool =
          broken == null
              ? pool(URI.create(arguments[0]), Boolean.parseBoolean(autocommit), PATIENCE.dividedBy(3))
              : brokenPool(broken);
      builder.store(new SqlStore(pool, PATIENCE));
    }
    String table = properties.remove("table");
    String column = properties.remove("column");
    properties.forEach(builder::set);
    if (arguments[1].equals("statements") || arguments[1].equals("max_of")) {
      write(told(builder.admin(), table, column));
      return;
    }
    int batch = Integer.parseInt(arguments[1]);
    try (var generator = builder.build()) {
      if (batch == 0) {
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = lines.readLine()) != null; ) draw(generator, Integer.parseInt(line));
        return;
      }
      while (true) {
        var failure = draw(generator, batch);
        if (failure != null && !failure.retryable()) Runtime.getRuntime().halt(1);
      }
    } catch (IdgenException e) {
      write(said(e));
      Runtime.getRuntime().halt(e.retryable() ? 75 : 1);
    }
  }

  private static void scene(String name, DataSource pool, Map<String, String> properties) throws Exception {
    String tag = properties.get("tag");
    var store = name.equals("emptied") ? new SqlStore(pool) : new SqlStore(pool, PATIENCE);
    var builder = Generator.builder().store(store);
    properties.forEach(builder::set);
    switch (name) {
      case "tags" -> {
        attempt(() -> created(store, tag));
        attempt(() -> created(store, tag));
        attempt(() -> store.showSegment("default", tag).maxId() + " " + store.showSegment("default", tag).grants());
        attempt(() -> "" + store.advanceSegment("default", tag, 1000).maxId());
        attempt(() -> "" + store.advanceSegment("default", tag, 10).maxId());
        attempt(
            () ->
                store.listSegments().stream()
                    .filter(row -> row.tag().equals(tag))
                    .map(row -> "" + row.maxId())
                    .collect(Collectors.joining()));
        attempt(() -> "" + store.showSegment("nobody", tag));
      }
      case "inside" -> {
        try (var connection = pool.getConnection();
            var statement = connection.createStatement()) {
          if (connection.getAutoCommit()) statement.execute("BEGIN");
          statement.execute("INSERT INTO idgen_segment(ns, tag, max_id) VALUES('theirs', '" + tag + "', 7)");
          attempt(() -> "" + builder.store(new SqlStore(lending(connection))).build().next());
          if (connection.getAutoCommit()) statement.execute("COMMIT");
          else connection.commit();
        }
      }
      case "draw" -> {
        try (var generator = builder.build()) {
          draw(generator, 20);
        } catch (IdgenException e) {
          write(said(e));
        }
      }
      case "emptied" -> {
        try (var generator = builder.build()) {
          var mine = pool.getConnection();
          long began = System.nanoTime();
          draw(generator, 1000);
          write("" + (System.nanoTime() - began) / 1_000_000);
          mine.close();
          while (draw(generator, 10) != null) Thread.onSpinWait();
        }
      }
      case "tables" -> {
        attempt(() -> tablesMade(store));
        attempt(() -> tablesMade(store));
      }
      case "workers" ->
          attempt(
              () -> {
                var rows = store.workerList(properties.get("namespace"));
                return rows.size() + rows.stream().map(HostDrawing::line).collect(Collectors.joining());
              });
      default -> {
        try {
          builder.build();
        } catch (IdgenException e) {
          write(e.getCause().getClass().getSimpleName());
        }
      }
    }
  }

  private static URL[] urls(String files) throws Exception {
    var found = new ArrayList<URL>();
    for (String file : files.split(File.pathSeparator)) found.add(Path.of(file).toUri().toURL());
    return found.toArray(URL[]::new);
  }

  private static String created(SqlStore store, String tag) {
    store.createSegment("default", tag);
    return "None";
  }

  private static String tablesMade(SqlStore store) {
    store.createTables();
    return "None";
  }

  private static String line(WorkerInfo row) {
    return "\n" + row.worker() + " " + row.fence() + " " + row.hwMs() + " " + row.isLive() + " " + row.holder();
  }

  private static void attempt(Supplier<String> call) {
    try {
      write(call.get());
    } catch (IdgenException e) {
      write(said(e));
    }
  }

  /**
   * A proxy that takes part in a transaction, as frameworks have: it gives its connection, which close() leaves open.
   */
  private static DataSource lending(Connection connection) {
    var shared =
        Proxies.of(
            Connection.class,
            (self, method, arguments) ->
                method.getName().equals("close") ? null : method.invoke(connection, arguments));
    return Proxies.pool(() -> shared);
  }

  // The largest number of a table or, without a table, the statements.
  private static String told(StoreAdmin admin, String table, String column) {
    try {
      return table == null ? admin.segmentStatements().stripTrailing() : "" + admin.segmentMaxOf(table, column);
    } catch (IdgenException e) {
      return said(e);
    }
  }

  private static IdgenException draw(Generator generator, int count) {
    var ids = new long[count];
    try {
      generator.fill(ids);
      write(words(ids, count));
      return null;
    } catch (IdgenException e) {
      write((words(ids, e.written()) + " " + said(e)).strip());
      return e;
    }
  }

  private static String words(long[] ids, int count) {
    return Arrays.stream(ids, 0, count).mapToObj(Long::toString).collect(Collectors.joining(" "));
  }

  private static String said(IdgenException e) {
    return "!" + e.statusName() + " " + e.getMessage().replace('\n', ' ');
  }

  private static void write(String line) {
    var bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
    System.out.write(bytes, 0, bytes.length); // at once, or not at all
    System.out.flush();
  }

  private static HikariDataSource pool(URI url, boolean autocommit, Duration timeout) {
    String scheme = url.getScheme().equals("mysql") ? "mariadb" : "postgresql";
    // The tests' proxy reads the statements: without a threshold each carries its text.
    String limits =
        scheme.equals("mariadb")
            ? "?socketTimeout=5000&connectTimeout=5000&allowPublicKeyRetrieval=true"
            : "?socketTimeout=5&connectTimeout=5&prepareThreshold=0";
    var config = new HikariConfig();
    config.setJdbcUrl("jdbc:" + scheme + "://" + url.getHost() + ":" + url.getPort() + url.getPath() + limits);
    String[] user = url.getUserInfo().split(":", 2);
    config.setUsername(user[0]);
    config.setPassword(user[1]);
    config.setAutoCommit(autocommit);
    config.setMaximumPoolSize(1);
    config.setInitializationFailTimeout(-1);
    config.setConnectionTimeout(timeout.toMillis());
    config.setValidationTimeout(1000);
    return new HikariDataSource(config);
  }

  private static DataSource filteredPool(URI url, boolean autocommit, String driver, String settings)
      throws ReflectiveOperationException {
    var filter = new WallFilter();
    if (!settings.isEmpty()) filter.setConfig(new WallConfig());
    for (String setting : settings.split(",")) {
      if (setting.isEmpty()) continue;
      String[] pair = setting.split("=");
      String setter = "set" + pair[0].substring(0, 1).toUpperCase(Locale.ROOT) + pair[0].substring(1);
      WallConfig.class.getMethod(setter, boolean.class).invoke(filter.getConfig(), Boolean.parseBoolean(pair[1]));
    }
    var pool = new DruidDataSource();
    pool.setProxyFilters(List.of(filter));
    pool.setUrl(
        "jdbc:" + driver + "://" + url.getHost() + ":" + url.getPort() + url.getPath()
            + (driver.equals("postgresql") ? "" : "?allowPublicKeyRetrieval=true&useSSL=false"));
    String[] user = url.getUserInfo().split(":", 2);
    pool.setUsername(user[0]);
    pool.setPassword(user[1]);
    pool.setDefaultAutoCommit(autocommit);
    pool.setMaxActive(1);
    return pool;
  }

  private static DataSource brokenPool(String text) {
    return Proxies.pool(() -> {
      throw new IllegalStateException(text);
    });
  }
}
