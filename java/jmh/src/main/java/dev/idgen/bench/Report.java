package dev.idgen.bench;

import dev.idgen.Generator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs everything several times, interleaved, and prints ratios of medians: on a shared machine absolute times mean
 * little. Compares the cost of a call, less the core's own, with an empty JNI call.
 */
public final class Report {
  private static final double CAP_PER_MS = 4096;

  private Report() {}

  /** Arguments: rounds, and a file for the figures as JSON. */
  public static void main(String[] arguments) throws RunnerException, IOException {
    int rounds = Integer.parseInt(arguments[0]);
    var times = new TreeMap<String, List<Double>>();
    var cap = new ArrayList<Double>();
    for (int round = 1; round <= rounds; round++) {
      System.err.println("round " + round + " of " + rounds);
      for (var run : new Runner(options()).run()) {
        String name = run.getPrimaryResult().getLabel();
        times.computeIfAbsent(name, any -> new ArrayList<>()).add(run.getPrimaryResult().getScore());
      }
      cap.add(shareOfCap());
    }
    var median = new TreeMap<String, Double>();
    times.forEach((name, values) -> median.put(name, median(values)));
    var figures = figures(median, median(cap));
    print(median, figures, rounds);
    Files.writeString(Path.of(arguments[1]), json(figures));
  }

  private static org.openjdk.jmh.runner.options.Options options() {
    return new OptionsBuilder()
        .include(Calls.class.getName() + "\\..*")
        .forks(1)
        .warmupIterations(4)
        .warmupTime(TimeValue.milliseconds(250))
        .measurementIterations(3)
        .measurementTime(TimeValue.milliseconds(250))
        .verbosity(VerboseMode.SILENT)
        .build();
  }

  /** Ids drawn one by one on one thread for two seconds, as a share of what 41/10/12 can have in that time. */
  private static double shareOfCap() {
    try (var ids = Generator.builder()
                       .layout("time:41ms worker:10 sequence:12")
                       .worker(1)
                       .store("memory")
                       .storeCreate(true)
                       .build()) {
      draw(ids, 500_000_000L);
      return draw(ids, 2_000_000_000L);
    }
  }

  private static double draw(Generator ids, long nanoseconds) {
    long count = 0;
    long start = System.nanoTime();
    long elapsed;
    do {
      for (int drawn = 0; drawn < 1024; drawn++) ids.next();
      count += 1024;
      elapsed = System.nanoTime() - start;
    } while (elapsed < nanoseconds);
    return count / (elapsed / 1e6 * CAP_PER_MS);
  }

  private record Figure(String name, double value, String unit, String goal) {}

  private static List<Figure> figures(Map<String, Double> ns, double cap) {
    double empty = ns.get("emptyJni");
    return List.of(new Figure("segment next() less the core, by an empty JNI call",
                       (ns.get("nextSegment") - ns.get("coreSegment")) / empty, "x", "<= 1.3"),
        new Figure("snowflake next() less the core, by an empty JNI call",
            (ns.get("nextSnowflake") - ns.get("coreSnowflake")) / empty, "x", "<= 1.3"),
        new Figure("segment next(), by an empty JNI call", ns.get("nextSegment") / empty, "x", ""),
        new Figure("snowflake next(), by an empty JNI call", ns.get("nextSnowflake") / empty, "x", ""),
        new Figure("business nextFor(long), by an empty JNI call", ns.get("nextForInt") / empty, "x", ""),
        new Figure(
            "business nextFor(String) of 16 bytes, by an empty JNI call", ns.get("nextForString") / empty, "x", ""),
        new Figure("business fillForEach(long[1024], long[1024]), an id", ns.get("fillForEachInt"), "ns", ""),
        new Figure("router.route(long), by an empty JNI call", ns.get("route") / empty, "x", ""),
        new Figure("router.routeBatch of 1024, an id", ns.get("routeBatch"), "ns", ""),
        new Figure("cipher.hide(long), by an empty JNI call", ns.get("hide") / empty, "x", ""),
        new Figure("cipher.hideAll(long[1024]), an id", ns.get("hideAll"), "ns", ""),
        new Figure("uuid7() less the core, by an empty JNI call", (ns.get("uuid7") - ns.get("coreUuid7")) / empty, "x",
            ""),
        new Figure("uuid7(), by an empty JNI call", ns.get("uuid7") / empty, "x", ""),
        new Figure("uuid7(), by java-uuid-generator's", ns.get("uuid7") / ns.get("otherUuid7"), "x", ""),
        new Figure("uuid4(), by UUID.randomUUID()", ns.get("uuid4") / ns.get("javaUuid4"), "x", ""),
        new Figure("fillUuid7(UUID[1024]), an id", ns.get("fillUuid7"), "ns", ""),
        new Figure("segment fill(long[1024]), an id", ns.get("fillSegment"), "ns", "<= 1"),
        new Figure("snowflake fill(long[1024]), an id", ns.get("fillSnowflake"), "ns", "<= 1"),
        new Figure("41/10/12 next() on one thread, of 4096 per ms", cap * 100, "%", ">= 99.9"));
  }

  private static void print(Map<String, Double> ns, List<Figure> figures, int rounds) {
    System.out.printf(Locale.ROOT, "Java %s, median of %d rounds%n%n", Runtime.version(), rounds);
    System.out.println("| figure | value | goal |");
    System.out.println("|---|---|---|");
    for (var figure : figures) {
      System.out.printf(
          Locale.ROOT, "| %s | %.2f %s | %s |%n", figure.name(), figure.value(), figure.unit(), figure.goal());
    }
    System.out.println();
    System.out.println("| call | ns an id | by an empty JNI call |");
    System.out.println("|---|---|---|");
    ns.forEach(
        (name, value)
            -> System.out.printf(Locale.ROOT, "| %s | %.2f | %.2f |%n", name, value, value / ns.get("emptyJni")));
  }

  private static String json(List<Figure> figures) {
    var lines = new ArrayList<String>();
    for (var figure : figures) {
      lines.add(String.format(Locale.ROOT, "  {\"name\": \"%s\", \"value\": %.4f, \"unit\": \"%s\", \"goal\": \"%s\"}",
          figure.name(), figure.value(), figure.unit(), figure.goal()));
    }
    return "[\n" + String.join(",\n", lines) + "\n]\n";
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
  }
}
