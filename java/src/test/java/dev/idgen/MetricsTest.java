package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MetricsTest {
  private static final Pattern HELP = Pattern.compile("# HELP (\\w+) \\S.*");
  private static final Pattern TYPE = Pattern.compile("# TYPE (\\w+) (counter|gauge)");
  private static final String LABEL = "\\w+=\"(?:[^\"\\\\\n]|\\\\[\\\\\"n])*\"";
  private static final Pattern SAMPLE =
      Pattern.compile("(\\w+)(\\{" + LABEL + "(?:," + LABEL + ")*\\}) (\\+Inf|[0-9.e+-]+)");

  private static final String PROCESS = ",process=\"" + ProcessHandle.current().pid() + "@" + hostName() + "\"}";
  private static final String ORDERS = "{name=\"orders\",namespace=\"default\",kind=\"segment\"" + PROCESS;
  private static final String EVENTS = "{name=\"events\",namespace=\"default\",kind=\"snowflake\"" + PROCESS;

  @TempDir Path folder;

  private static String hostName() {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Generator.Builder segment() {
    return Generator.builder()
        .kind("segment")
        .name("orders")
        .store("sqlite:ids.db")
        .directory(folder)
        .storeCreate(true);
  }

  private Generator.Builder snowflake() {
    return Generator.builder().name("events").store("sqlite:ids.db").directory(folder).storeCreate(true).worker(7);
  }

  /** Every sample by its name and labels. Fails on a misplaced line, and on what Prometheus refuses. */
  private static Map<String, Double> parse(String text) {
    var samples = new LinkedHashMap<String, Double>();
    var described = new HashSet<String>();
    String metric = "";
    assertTrue(text.isEmpty() || text.endsWith("\n"));
    var lines = text.lines().iterator();
    while (lines.hasNext()) {
      String line = lines.next();
      var help = HELP.matcher(line);
      if (help.matches()) {
        metric = help.group(1);
        assertTrue(described.add(metric), metric + " is described twice");
        var type = TYPE.matcher(lines.next());
        assertTrue(type.matches() && type.group(1).equals(metric), line);
        assertEquals(metric.endsWith("_total"), type.group(2).equals("counter"), line);
        continue;
      }
      var sample = SAMPLE.matcher(line);
      assertTrue(sample.matches() && sample.group(1).equals(metric), line);
      double value =
          sample.group(3).equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(sample.group(3));
      assertEquals(null, samples.put(metric + sample.group(2), value), line + " is there twice");
    }
    return samples;
  }

  @Test
  void metricsAreTheStatsOfEachGenerator() {
    try (var orders = segment().build(); var events = snowflake().build()) {
      orders.nextBatch(30);
      events.next();
      var samples = parse(Generator.metrics(orders, events));
      assertEquals(30, samples.get("idgen_issued_total" + ORDERS));
      assertEquals(orders.stats().granted(), samples.get("idgen_granted_total" + ORDERS).longValue());
      assertEquals(1, samples.get("idgen_handles" + ORDERS));
      assertTrue(samples.get("idgen_granted_seconds_total" + EVENTS) >= 10, samples::toString);
      assertTrue(samples.get("idgen_stock_seconds" + EVENTS) > 0, samples::toString);
      assertEquals(1, samples.get("idgen_issued_total" + EVENTS));
      assertEquals(1, events.stats().issuedIds());
    }
  }

  @Test
  void aGeneratorThatIsStoppedSaysWhyAndWhatFailedLast() {
    try (var orders = segment().segmentStep(10).build()) {
      assertEquals(0, orders.stats().stopped());
      assertEquals(null, orders.stats().lastFailureAt());
      assertEquals("", orders.stats().lastError());
      assertEquals(Long.MAX_VALUE - 10, orders.stats().tagLeft());
      segment().advanceSegment(Long.MAX_VALUE);
      var refused = assertThrows(ExhaustedException.class, () -> orders.nextBatch(100));
      var stats = orders.stats();
      assertEquals(Status.EXHAUSTED, stats.stopped());
      assertEquals(Status.EXHAUSTED, stats.lastFailure());
      assertTrue(refused.getMessage().contains(stats.lastError()), stats::lastError);
      assertTrue(stats.lastFailureAt().isAfter(Instant.now().minusSeconds(3600)), stats::toString);
      assertEquals(0, stats.layoutLeft());
    }
  }

  @Test
  void aGeneratorSaysWhichItIs() {
    var orders = segment().tag("t").build();
    assertEquals("Generator[segment 'orders', tag 't' of namespace 'default']", orders.toString());
    orders.close();
    assertEquals("Generator[segment 'orders', tag 't' of namespace 'default', closed]", orders.toString());
    try (var events = snowflake().build()) {
      assertEquals("Generator[snowflake 'events', worker 7 of namespace 'default']", events.toString());
    }
  }

  @Test
  void aClosedGeneratorIsStillReported() {
    var orders = segment().build();
    orders.nextBatch(10);
    orders.close();
    var samples = parse(Generator.metrics(orders));
    assertEquals(10, samples.get("idgen_issued_total" + ORDERS));
    assertEquals(0, samples.get("idgen_handles" + ORDERS));
  }

  @Test
  void generatorsThatShareAWorkerAreOneSample() {
    try (var a = snowflake().build(); var b = snowflake().build()) {
      assertEquals(2, parse(Generator.metrics(a, b, a)).get("idgen_handles" + EVENTS));
    }
  }

  @Test
  void aNameOfAnyCharactersIsOneLabel() {
    try (var ids = segment().name("a \"b\" \\ c\nd, caf\u00e9").tag("t").build()) {
      String label = "{name=\"a \\\"b\\\" \\\\ c\\nd, caf\u00e9\",namespace=\"default\",kind=\"segment\"" + PROCESS;
      assertTrue(parse(Generator.metrics(ids)).containsKey("idgen_stock" + label));
    }
  }

  @Test
  void noGeneratorsAreNoText() {
    assertEquals("", Generator.metrics());
    assertThrows(NullPointerException.class, () -> Generator.metrics((Generator) null));
  }
}
