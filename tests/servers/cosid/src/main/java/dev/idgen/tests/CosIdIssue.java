package dev.idgen.tests;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.sql.SQLException;
import javax.sql.DataSource;
import me.ahoo.cosid.segment.DefaultSegmentId;
import me.ahoo.cosid.segment.IdSegmentDistributor;
import me.ahoo.cosid.segment.IdSegmentDistributorDefinition;
import me.ahoo.cosid.segment.IdSegmentDistributorFactory;
import me.ahoo.cosid.segment.SegmentChainId;
import me.ahoo.cosid.segment.SegmentId;
import me.ahoo.cosid.spring.redis.SpringRedisIdSegmentDistributorFactory;
import org.mariadb.jdbc.MariaDbPoolDataSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Issues ids like an application with CosId: with CosId's own classes, except {@link TableDistributor}.
 *
 * <pre>cosid-issue.jar URL NAMESPACE NAME OFFSET STEP segment|chain</pre>
 *
 * URL is {@code jdbc:mariadb://host:port/database} or {@code redis://host:port}; COSID_USER and COSID_PASSWORD are in
 * the environment. CosId makes a missing table, row or key. For each number N on standard input it issues N ids and
 * then prints them, one per line; after the last number it ends.
 */
public final class CosIdIssue {
  public static void main(String[] args) throws Exception {
    if (args.length != 6) throw new IllegalArgumentException("URL NAMESPACE NAME OFFSET STEP segment|chain");
    IdSegmentDistributorDefinition definition =
        new IdSegmentDistributorDefinition(args[1], args[2], Long.parseLong(args[3]), Long.parseLong(args[4]));
    IdSegmentDistributor distributor =
        (args[0].startsWith("jdbc:") ? jdbc(args[0]) : redis(URI.create(args[0]))).create(definition);
    SegmentId id =
        switch (args[5]) {
          case "segment" -> new DefaultSegmentId(distributor);
          case "chain" -> new SegmentChainId(distributor);
          default -> throw new IllegalArgumentException(args[5] + " is neither segment nor chain");
        };
    BufferedReader asked = new BufferedReader(new InputStreamReader(System.in));
    for (String line = asked.readLine(); line != null; line = asked.readLine()) {
      int count = Integer.parseInt(line);
      StringBuilder issued = new StringBuilder();
      for (int i = 0; i < count; i++) issued.append(id.generate()).append('\n');
      System.out.print(issued);
      System.out.flush();
    }
    System.exit(0); // CosId, its driver and its client have threads of their own
  }

  private static IdSegmentDistributorFactory jdbc(String url) throws SQLException {
    DataSource database = database(url);
    return definition -> new TableDistributor(definition, database);
  }

  private static IdSegmentDistributorFactory redis(URI url) {
    return new SpringRedisIdSegmentDistributorFactory(redisAt(url));
  }

  static DataSource database(String url) throws SQLException {
    MariaDbPoolDataSource database = new MariaDbPoolDataSource();
    database.setUser(System.getenv("COSID_USER"));
    database.setPassword(System.getenv("COSID_PASSWORD"));
    database.setUrl(url);
    return database;
  }

  static StringRedisTemplate redisAt(URI url) {
    RedisStandaloneConfiguration server = new RedisStandaloneConfiguration(url.getHost(), url.getPort());
    server.setPassword(System.getenv("COSID_PASSWORD"));
    LettuceConnectionFactory connections = new LettuceConnectionFactory(server);
    connections.afterPropertiesSet();
    connections.start();
    return new StringRedisTemplate(connections);
  }
}
