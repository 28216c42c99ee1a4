package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.idgen.testing.ManualClock;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** Ids as text, by a pattern. */
class TextPatternTest {
  private static final long TWITTER = 1541815603606036480L; // 2022-06-28T16:07:40.105Z

  @TempDir Path folder;

  private static Generator.Builder segment(TestInfo test) {
    return Generator.builder().kind("segment").tag(test.getDisplayName()).store("memory").storeCreate(true);
  }

  @Test
  void anIdWithoutADateHasNoUnit() {
    var pattern = TextPattern.of("ORD-{base62:11}-{check}");
    assertEquals(
        new TextParts(
            WideId.of(9007199254740991L), WideId.of(9007199254740991L), Optional.empty(), Optional.empty()),
        pattern.parse("ORD-00fFgnDxSe7-7"));
    assertEquals("ORD-LygHa16AHYF-a", pattern.format(-1));
  }

  @Test
  void aDateIsTheLocalTimeAtWhichItsUnitBegan() {
    var pattern = TextPattern.of("{yyyyMMdd HH}-{decimal}", "+09:30", Layout.parse("twitter"));
    var parts = pattern.parse("20220629 01-" + TWITTER);
    assertEquals(TWITTER, parts.id().toLong());
    assertEquals(Optional.of(ChronoUnit.HOURS), parts.unit());
    assertEquals(Optional.of(LocalDateTime.of(2022, 6, 29, 1, 0)), parts.localTime());
    var inUtc = TextPattern.of("{yyyyMMdd HH}-{decimal}", Layout.parse("twitter"));
    assertEquals("20220628 16-" + TWITTER, inUtc.format(TWITTER));
  }

  @Test
  void mistakesAreRefused() {
    var pattern = TextPattern.of("{000}");
    assertThrows(IllegalArgumentException.class, () -> pattern.parse("00\0"));
    assertThrows(IllegalArgumentException.class, () -> TextPattern.of("{hex}\0"));
    // A wrong value, or, without the module of zones, unsupported.
    assertThrows(ConfigException.class, () -> TextPattern.of("{hex}", "+25:00", null));
  }

  @Test
  void aConfigurationHasThePatternOfItsGenerator() throws IOException {
    Path toml = folder.resolve("idgen.toml");
    Files.writeString(
        toml,
        """
        [orders]
        layout = "twitter"
        pattern = "{yyyyMMdd}-{hex}"
        zone = "+14:00"
        """);
    assertEquals("20220629-" + IdText.HEX.format(TWITTER), TextPattern.open(toml, "orders").format(TWITTER));
    var inUtc = Generator.builder().load(toml, "orders").zone("UTC").pattern("{dd}-{hex}").buildTextPattern();
    assertEquals("28-" + IdText.HEX.format(TWITTER), inUtc.format(TWITTER));
    assertEquals(
        Status.CONFIG_FILE, assertThrows(ConfigException.class, () -> TextPattern.open(toml, "others")).status());
  }

  @Test
  void aGeneratorWritesItsIdsByItsPattern(TestInfo test) {
    var orders = segment(test).pattern("№ {0000}-{check}").build();
    assertEquals("№ 0001-8", orders.nextText());
    assertEquals("№ 0002-6", orders.nextText());
    assertEquals(3, orders.next());
    assertEquals(2, orders.textPattern().parse("№ 0002-6").id().toLong());
    orders.close();
    assertEquals(Status.CLOSED, assertThrows(ClosedException.class, orders::nextText).status());
    assertEquals("№ 0003-4", orders.textPattern().format(3));
  }

  @Test
  void aSerialHasANumberThatIsNotItsId(TestInfo test) {
    try (var orders = segment(test).kind("serial").pattern("SO{yyyy}-{000}").clock(new ManualClock()).build()) {
      assertEquals("SO2026-001", orders.nextText());
      var parts = orders.textPattern().parse("SO2026-001");
      assertEquals(1, parts.number().toLong());
      assertEquals(Optional.of(ChronoUnit.YEARS), parts.unit());
      assertEquals(Optional.of(LocalDateTime.of(2026, 1, 1, 0, 0)), parts.localTime());
      assertEquals("SO2026-001", orders.textPattern().format(parts.id()));
    }
  }

  @Test
  void theLongestTextLosesNoId(TestInfo test) {
    String before = "x".repeat(112);
    try (var orders = segment(test).pattern(before + "{decimal:39}").build()) {
      for (int number = 1; number <= 3; number++) {
        assertEquals(before + "%039d".formatted(number), orders.nextText());
      }
    }
  }

  @Test
  void anInterruptEndsAWaitForAText() {
    try (var slow =
        Generator.builder()
            .kind("snowflake")
            .worker(1)
            .store("memory:anInterruptEndsAWaitForAText")
            .layout("time:32s worker:30 sequence:1")
            .pattern("ID-{hex}")
            .waitMax(Duration.ofSeconds(30))
            .build()) {
      Thread.currentThread().interrupt();
      assertThrows(
          CancelledException.class,
          () -> {
            for (int i = 0; i < 100; i++) slow.nextText();
          });
      assertTrue(Thread.interrupted());
      assertTrue(slow.nextText().startsWith("ID-"));
    }
  }

  @Test
  void threadsWriteNoIdTwice(TestInfo test) throws Exception {
    var texts = ConcurrentHashMap.<String>newKeySet();
    try (var orders = segment(test).pattern("{base58}-{check}").segmentStep(100).build()) {
      Threads.together(4, () -> {
        for (int i = 0; i < 5000; i++) {
          String text = orders.nextText();
          assertTrue(texts.add(text), () -> "DUPLICATE: " + text);
          assertEquals(text, orders.textPattern().format(orders.textPattern().parse(text).id()));
        }
        return null;
      });
    }
    assertEquals(20_000, texts.size());
  }

  @Test
  void aPatternOutlivesItsGenerator(TestInfo test) throws InterruptedException {
    var generator = segment(test).pattern("{hex}").build();
    var pattern = generator.textPattern();
    var reference = new WeakReference<>(generator);
    generator.close();
    generator = null;
    Garbage.awaitCollected(reference);
    assertEquals(7, pattern.parse("0000000000000007").id().toLong());
  }
}
