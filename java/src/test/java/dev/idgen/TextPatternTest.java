package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.idgen.testing.ManualClock;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ids as text, by a pattern. */
class TextPatternTest {
  private static final long TWITTER = 1541815603606036480L; // 2022-06-28T16:07:40.105Z

  @TempDir Path folder;

  private static Generator.Builder segment(String pattern) {
    return Generator.builder().kind("segment").tag(pattern).store("memory").storeCreate(true).pattern(pattern);
  }

  @Test
  void anIdWithoutADateHasNoUnit() {
    var pattern = TextPattern.of("ORD-{base62:11}-{check}");
    var id = WideId.of(9007199254740991L);
    assertEquals(new TextParts(id, id, Optional.empty(), Optional.empty()), pattern.parse("ORD-00fFgnDxSe7-7"));
  }

  @Test
  void aDateIsTheLocalTimeAtWhichItsUnitBegan() {
    var parts =
        TextPattern.of("{yyyyMMdd HH}-{decimal}", "+09:30", Layout.parse("twitter")).parse("20220629 01-" + TWITTER);
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
  }

  @Test
  void aConfigurationHasThePatternOfItsGenerator() throws IOException {
    Path toml = Files.writeString(folder.resolve("idgen.toml"), "[orders]\npattern = \"O-{hex}\"\n");
    assertEquals("O-0000000000000007", TextPattern.open(toml, "orders").format(7));
    assertEquals("P-7", Generator.builder().load(toml, "orders").pattern("P-{0}").buildTextPattern().format(7));
  }

  @Test
  void aGeneratorWritesItsIdsByItsPattern() throws InterruptedException {
    var orders = segment("№ {0000}-{check}").build();
    assertEquals("№ 0001-8", orders.nextText());
    assertEquals("№ 0002-6", orders.nextText());
    assertEquals(3, orders.next());
    var pattern = orders.textPattern();
    orders.close();
    assertEquals(Status.CLOSED, assertThrows(ClosedException.class, orders::nextText).status());
    var reference = new WeakReference<>(orders);
    orders = null;
    Garbage.awaitCollected(reference);
    assertEquals("№ 0003-4", pattern.format(3), "it outlives its generator");
    assertEquals(2, pattern.parse("№ 0002-6").id().toLong());
  }

  @Test
  void aSerialHasANumberThatIsNotItsId() {
    try (var orders = segment("SO{yyyy}-{000}").kind("serial").clock(new ManualClock()).build()) {
      assertEquals("SO2026-001", orders.nextText());
      var parts = orders.textPattern().parse("SO2026-001");
      assertEquals(1, parts.number().toLong());
      assertEquals(Optional.of(ChronoUnit.YEARS), parts.unit());
      assertEquals(Optional.of(LocalDateTime.of(2026, 1, 1, 0, 0)), parts.localTime());
      assertEquals("SO2026-001", orders.textPattern().format(parts.id()));
    }
  }

  @Test
  void theLongestTextLosesNoId() {
    String before = "x".repeat(112);
    try (var orders = segment(before + "{decimal:39}").build()) {
      for (int number = 1; number <= 3; number++) assertEquals(before + "%039d".formatted(number), orders.nextText());
    }
  }
}
