package dev.idgen.testing;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.idgen.ClosedException;
import dev.idgen.Garbage;
import dev.idgen.Generator;
import dev.idgen.IdSource;
import dev.idgen.IdgenException;
import dev.idgen.Status;
import dev.idgen.Vectors;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** What docs/testing.md promises of the kit: as tests/vectors/kits.tsv says it, and what Java has of its own. */
class ScriptedGeneratorTest {
  private static final Instant AT = Instant.parse("2026-11-21T08:00:00Z");

  private ScriptedGenerator ids; // of the table's latest row that makes one
  private long[] column = {}; // that was filled last

  @Test
  void theKitDoesWhatTheTableSays(@TempDir Path folder) throws Exception {
    var file = Files.copy(Vectors.file("kits.toml"), folder.resolve("kits.toml"));
    for (String[] row : Vectors.rows("kits.tsv")) {
      String got = "";
      String said = "";
      try {
        if (!row[1].isEmpty()) {
          if (ids != null) ids.close();
          ids = made(row[1], file);
        }
        for (int column = 2; column <= 4; column++) {
          if (row[column].isEmpty()) continue;
          var step = row[column].split(" ");
          got = after(step[0], Arrays.copyOfRange(step, 1, step.length)).toString().replaceAll("[\\[\\],]", "");
        }
      } catch (IdgenException e) {
        var word = e.statusName().split("_")[0];
        var family = e.status() < 20 ? "Config" : word.charAt(0) + word.substring(1).toLowerCase(Locale.ROOT);
        assertEquals(family + "Exception", e.getClass().getSimpleName());
        said = e.getMessage();
        got = e.statusName() + (e.retryable() ? " retryable" : "");
        if (e.written() > 0) got += ", " + e.written() + " drawn";
      } catch (IllegalArgumentException e) {
        got = "refused";
        said = e.getMessage();
      }
      assertEquals(row[5], got, String.join(" | ", row));
      assertTrue(said.contains(row[6].replace("set_back", "setBack")), said);
    }
    ids.close();
    try (var files = Files.list(folder)) {
      assertEquals(List.of(file), files.toList());
    }
  }

  private static ScriptedGenerator made(String generator, Path file) {
    var given = new HashMap<String, String>();
    for (var pair : generator.split(", ")) given.put(pair.split("=", 2)[0], pair.split("=", 2)[1]);
    var builder = Generator.builder();
    if (given.containsKey("table")) builder.load(file, given.get("table"));
    var properties = new HashMap<>(given);
    properties.keySet().removeAll(Set.of("table", "start", "at", "sequence"));
    properties.forEach(builder::set);
    var setup = ScriptedGenerator.with(builder).sequence(Integer.parseInt(given.getOrDefault("sequence", "0")));
    if (given.containsKey("start")) setup.start(Long.parseLong(given.get("start")));
    if (given.containsKey("at")) setup.at(Instant.parse(given.get("at")));
    return setup.build();
  }

  /** What a step gives; nothing, if it only tells. */
  private Object after(String name, String... words) throws ReflectiveOperationException {
    var clock = ids.clock();
    return switch (name) {
      case "fail_next" -> { ids.failNext(Integer.parseInt(words[0]), status(words[1])); yield ""; }
      case "fail_after" -> { ids.failAfter(Long.parseLong(words[0]), status(words[1])); yield ""; }
      case "recover" -> { ids.recover(); yield ""; }
      case "set" -> { clock.set(Instant.parse(words[0])); yield ""; }
      case "advance" -> { clock.advance(Duration.parse("PT" + words[0] + "S")); yield ""; }
      case "set_back" -> { clock.setBack(Duration.parse("PT" + words[0] + "S")); yield ""; }
      case "clock" -> clock.instant();
      case "next" -> ids.next();
      case "text" -> ids.nextText();
      case "try" -> ids.tryNext().stream().boxed().findAny().<Object>map(id -> id).orElse("none");
      case "batch" -> Arrays.toString(ids.nextBatch(Integer.parseInt(words[0])));
      case "fill" -> ids.fill(column = new long[Integer.parseInt(words[0])]);
      case "column" -> Arrays.toString(column);
      case "time" -> ids.decode(ids.next()).instant();
      case "parts" -> {
        var parts = ids.decode(ids.next());
        yield List.of(parts.instant(), parts.worker(), parts.sequence());
      }
      case "for" -> {
        var parts = ids.decode(switch (words[0]) {
          case "integer" -> ids.nextFor(Long.parseLong(words[1]));
          case "text" -> ids.nextFor(words[1]);
          default -> ids.nextFor(words[1].getBytes(StandardCharsets.UTF_8));
        });
        yield List.of(parts.segment(), parts.gene());
      }
      case "close" -> { ids.close(); yield ""; }
      default -> throw new AssertionError("there is no step " + name);
    };
  }

  private static int status(String name) throws ReflectiveOperationException {
    return Status.class.getField(name).getInt(null);
  }

  @Test
  void everyStatusIsToldWithItsOwnMessage() throws Exception {
    try (var ids = ScriptedGenerator.segment(1)) {
      for (var constant : Status.class.getFields()) {
        ids.failNext(1, constant.getInt(null));
        var failure = assertThrows(IdgenException.class, ids::nextText);
        assertEquals(constant.getName(), failure.statusName());
        assertEquals(IdgenException.of(constant.getInt(null), 0).getMessage(), failure.getMessage());
      }
      assertEquals(1, ids.next());
    }
  }

  @Test
  void aSnowflakeMayBeginAtATimeAlone() {
    try (var ids = ScriptedGenerator.snowflake(AT);
        var others = ScriptedGenerator.snowflake(AT, 5)) {
      assertEquals(0, ids.decode(ids.next()).sequence());
      var parts = others.decode(others.next());
      assertEquals(List.of(AT, 5L, 1L), List.of(parts.instant(), parts.sequence(), parts.worker()));
    }
  }

  @Test
  void generatorsAndTheProgramMayShareAClock() {
    var clock = new ManualClock(AT);
    try (var first = ScriptedGenerator.with(Generator.builder().worker(1)).clock(clock).build();
        var second = ScriptedGenerator.with(Generator.builder().worker(2)).clock(clock).build()) {
      assertSame(clock, first.clock());
      var inBerlin = clock.withZone(ZoneId.of("Europe/Berlin"));
      inBerlin.advance(Duration.ofMinutes(1));
      for (var ids : List.of(first, second)) {
        assertEquals(AT.plusSeconds(60), ids.decode(ids.next()).instant());
      }
      assertEquals(AT.plusSeconds(60), clock.instant());
      assertEquals(ZoneId.of("Europe/Berlin"), inBerlin.getZone());
    }
  }

  @Test
  void theBuilderThatItIsMadeFromStaysAsItWas() {
    var builder = Generator.builder().kind("segment").store("memory:of-the-program").storeCreate(true);
    try (var ids = ScriptedGenerator.with(builder).start(1000).build();
        var own = builder.build()) {
      assertEquals(1000, ids.next());
      assertEquals(1, own.next());
    }
  }

  @Test
  void aLazyGeneratorAndAGeneratorAreSourcesToo() {
    var builder = Generator.builder().kind("segment").store("memory:sources").storeCreate(true);
    for (IdSource source :
        List.of(ScriptedGenerator.segment(1), ScriptedGenerator.segment(1).get(), builder.buildLazy())) {
      assertEquals(1, source.next());
      assertEquals("2", source.nextText());
      assertArrayEquals(new long[] {3, 4}, source.nextBatch(2));
      source.close();
      assertThrows(ClosedException.class, source::next);
    }
  }

  @Test
  void whatJavaAloneCanBeGivenIsRefusedWithWhatIsAllowed() {
    try (var ids = ScriptedGenerator.segment(1)) {
      Map.<String, Executable>of(
              "allowed: 1 to 4611686018427387904", () -> ScriptedGenerator.segment(0),
              "0 and above", () -> IdgenException.of(Status.EXHAUSTED, -1),
              "no status", () -> ids.failNext(1, 19),
              "negative", () -> ids.nextBatch(-1))
          .forEach(
              (says, call) -> {
                var refusal = assertThrows(IllegalArgumentException.class, call);
                assertTrue(refusal.getMessage().contains(says), refusal.getMessage());
              });
      assertEquals(1, ids.next());
    }
  }

  @Test
  void nothingIsLeftOfAClosedGenerator() throws Exception {
    var ids = ScriptedGenerator.snowflake(AT);
    ids.next();
    var clock = new WeakReference<>(ids.clock());
    var generator = new WeakReference<>(ids.get());
    ids.close();
    ids = null;
    Garbage.awaitCollected(clock, generator);
  }
}
