import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/**
 * Issues ids like Leaf's snowflake mode: SnowflakeZookeeperHolder's nodes, checks and reports, SnowflakeIDGenImpl's
 * arithmetic, rewritten because Leaf is not on Maven Central. In place of Curator it uses ZooKeeper's own client.
 *
 * <pre>java LeafSnowflake.java ZOOKEEPER NAME IP PORT CACHE_FILE EPOCH_MS</pre>
 *
 * It prints its number, and then, for each number N on standard input, N ids, one per line. A sequence has 2 bits in
 * place of 12, as in the other tests: files stay small.
 */
public final class LeafSnowflake {
  private static final long SEQUENCE_BITS = 2;
  private static final long SEQUENCE_MASK = ~(-1L << SEQUENCE_BITS);
  private static final Pattern TIMESTAMP =
      Pattern.compile("\\{\"ip\":\"[^\"]*\",\"port\":\"[^\"]*\",\"timestamp\":(\\d+)\\}");

  private final String name, ip, port;
  private final File cache;
  private final String forever;
  private int worker;
  private long lastUpdate;

  private LeafSnowflake(String name, String ip, String port, String cache) {
    this.name = name;
    this.ip = ip;
    this.port = port;
    this.cache = new File(cache);
    this.forever = "/snowflake/" + name + "/forever";
  }

  private boolean init(String zookeeper) throws Exception {
    try {
      ZooKeeper server = connect(zookeeper);
      if (server.exists(forever, false) == null) {
        String node = createNode(server);
        writeCache();
        report(server, node);
        return true;
      }
      Map<String, Integer> numbers = new HashMap<>();
      Map<String, String> nodes = new HashMap<>();
      for (String key : server.getChildren(forever, false)) {
        String[] parts = key.split("-");
        nodes.put(parts[0], key);
        numbers.put(parts[0], Integer.parseInt(parts[1]));
      }
      Integer own = numbers.get(ip + ":" + port);
      String node;
      if (own != null) {
        node = forever + "/" + nodes.get(ip + ":" + port);
        worker = own;
        if (timestampOf(server, node) > System.currentTimeMillis()) {
          throw new IllegalStateException("init timestamp check error,forever node timestamp gt this node time");
        }
      } else {
        node = createNode(server);
        worker = Integer.parseInt(node.split("-")[1]);
      }
      report(server, node);
      writeCache();
    } catch (Exception e) {
      System.err.println("Start node ERROR " + e);
      if (!cache.exists()) return false;
      Properties properties = new Properties();
      properties.load(new FileInputStream(cache));
      worker = Integer.parseInt(properties.getProperty("workerID"));
    }
    return true;
  }

  private static ZooKeeper connect(String zookeeper) throws Exception {
    CountDownLatch connected = new CountDownLatch(1);
    ZooKeeper server =
        new ZooKeeper(
            zookeeper,
            6000,
            event -> {
              if (event.getState() == Watcher.Event.KeeperState.SyncConnected) connected.countDown();
            });
    if (!connected.await(60, TimeUnit.SECONDS)) throw new IllegalStateException("no connection");
    return server;
  }

  private static long timestampOf(ZooKeeper server, String node) throws Exception {
    Matcher report = TIMESTAMP.matcher(new String(server.getData(node, false, null)));
    // Leaf's Jackson refuses members that it does not know.
    if (!report.matches()) throw new IllegalStateException("no report of Leaf's");
    return Long.parseLong(report.group(1));
  }

  private String createNode(ZooKeeper server) throws Exception {
    for (String parent : new String[] {"/snowflake", "/snowflake/" + name, forever}) {
      try {
        server.create(parent, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
      } catch (KeeperException.NodeExistsException there) {
        // as wanted
      }
    }
    return server.create(
        forever + "/" + ip + ":" + port + "-",
        data(),
        ZooDefs.Ids.OPEN_ACL_UNSAFE,
        CreateMode.PERSISTENT_SEQUENTIAL);
  }

  private void report(ZooKeeper server, String node) {
    Executors.newSingleThreadScheduledExecutor(
            work -> {
              Thread thread = new Thread(work, "schedule-upload-time");
              thread.setDaemon(true);
              return thread;
            })
        .scheduleWithFixedDelay(
            () -> {
              try {
                if (System.currentTimeMillis() < lastUpdate) return;
                server.setData(node, data(), -1);
                lastUpdate = System.currentTimeMillis();
              } catch (Exception e) {
                System.err.println("update init data error " + e);
              }
            },
            1,
            3,
            TimeUnit.SECONDS);
  }

  private byte[] data() {
    long now = System.currentTimeMillis();
    return ("{\"ip\":\"" + ip + "\",\"port\":\"" + port + "\",\"timestamp\":" + now + "}").getBytes();
  }

  private void writeCache() throws Exception {
    Files.writeString(cache.toPath(), "workerID=" + worker);
  }

  private final Random random = new Random();
  private long sequence;
  private long last = -1;

  private long next(long epoch) {
    long now = System.currentTimeMillis();
    if (now < last) throw new IllegalStateException("the clock went back");
    if (now == last) {
      sequence = sequence + 1 & SEQUENCE_MASK;
      if (sequence == 0) {
        sequence = random.nextInt(3);
        do {
          now = System.currentTimeMillis();
        } while (now <= last);
      }
    } else {
      sequence = random.nextInt(3);
    }
    last = now;
    return now - epoch << 10 + SEQUENCE_BITS | (long) worker << SEQUENCE_BITS | sequence;
  }

  public static void main(String[] args) throws Exception {
    LeafSnowflake leaf = new LeafSnowflake(args[1], args[2], args[3], args[4]);
    long epoch = Long.parseLong(args[5]);
    if (!leaf.init(args[0])) throw new IllegalStateException("Snowflake Id Gen is not init ok");
    if (leaf.worker < 0 || leaf.worker > 1023) throw new IllegalStateException("workerID must gte 0 and lte 1023");
    System.out.println(leaf.worker);
    BufferedReader asked = new BufferedReader(new InputStreamReader(System.in));
    for (String line = asked.readLine(); line != null; line = asked.readLine()) {
      StringBuilder issued = new StringBuilder();
      for (int i = Integer.parseInt(line); i > 0; i--) issued.append(leaf.next(epoch)).append('\n');
      System.out.print(issued);
      System.out.flush();
    }
    System.exit(0);
  }
}
