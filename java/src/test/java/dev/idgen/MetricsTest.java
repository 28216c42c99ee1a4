package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MetricsTest {
  @TempDir Path folder;

  @Test
  void theTextHasTheSamplesOfTheVectors() throws IOException {
    var generators = new ArrayList<Generator>();
    var samples = new HashMap<String, String>();
    String hostName = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    String process = ProcessHandle.current().pid() + "@" + hostName;
    for (String[] row : Vectors.rows("metrics.tsv")) {
      if (!row[0].equals("sample")) {
        var generator = Vectors.builder(row[1]).store("memory:MetricsTest").storeCreate(true).build();
        generators.add(generator);
        generator.nextBatch(Integer.parseInt(row[2]));
        if (row[0].equals("closed")) generator.close();
        continue;
      }
      if (samples.isEmpty()) {
        generators.add(generators.get(0));
        for (String line : Generator.metrics(generators.toArray(Generator[]::new)).split("\n")) {
          int value = line.lastIndexOf(' ') + 1;
          samples.put(line.substring(0, value - 1), line.substring(value));
        }
      }
      String found = samples.getOrDefault(row[1].replace("PROCESS", process), "-");
      if (row[2].endsWith("+")) {
        double least = Double.parseDouble(row[2].replace("+", ""));
        double value = Double.parseDouble(found.equals("-") ? "NaN" : found.replace("+Inf", "Infinity"));
        assertTrue(value >= least, row[1] + " is " + found);
      } else {
        assertEquals(row[2], found, row[1]);
      }
    }
    generators.forEach(Generator::close);
  }

  @Test
  void statsSayWhatWasGrantedAndWhyAGeneratorIsStopped() {
    var builder = Builders.segment(folder).name("orders").segmentStep(10).segmentRunway(Duration.ZERO);
    try (var orders = builder.build()) {
      orders.nextBatch(3);
      var before = orders.stats();
      assertEquals(1, before.handles());
      assertEquals(10, before.granted());
      assertEquals(7, before.remaining());
      assertEquals(1, before.refills());
      assertEquals(3, before.issued());
      assertTrue(before.stockSeconds() == Double.POSITIVE_INFINITY || before.rate() > 0, before::toString);
      assertEquals(0, before.refillFailures());
      assertEquals(0, before.stopped());
      assertEquals(null, before.lastFailureAt());
      assertEquals("", before.lastError());
      assertEquals(Long.MAX_VALUE - 10, before.tagLeft());
      Builders.segment(folder).name("orders").admin().advanceSegment(Long.MAX_VALUE);
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
    var orders = Builders.segment(folder).name("orders").tag("t").build();
    assertEquals("Generator[segment 'orders', tag 't' of namespace 'default']", orders.toString());
    orders.close();
    assertEquals("Generator[segment 'orders', tag 't' of namespace 'default', closed]", orders.toString());
  }

  @Test
  void noGeneratorsAreNoText() {
    assertEquals("", Generator.metrics());
    assertThrows(NullPointerException.class, () -> Generator.metrics((Generator) null));
  }
}
