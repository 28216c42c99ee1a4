package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The same input gives the same result as in the other languages. */
class VectorsTest {
  private static final Field[] FIELDS = Field.values();

  @Test
  void everyPresetHasTheSameTextEpochAndCapacity() {
    var rows = Vectors.rows("presets.tsv");
    assertEquals(rows.stream().map(row -> row[0]).toList(), Layout.presets());
    forEach(
        rows,
        row -> {
          var info = Layout.parse(row[0]).info();
          assertEquals(row[0], info.preset());
          assertEquals(row[1], info.text());
          assertEquals(Long.parseLong(row[2]), info.epochUnixMs());
          assertEquals(Integer.parseInt(row[3]), info.bits());
          assertEquals(Long.parseUnsignedLong(row[4]), info.idsPerTick());
          assertEquals(Long.parseUnsignedLong(row[5]), info.workers());
          assertEquals(Long.parseLong(row[6]), info.lastUnixMs());
          assertEquals(row[7].equals("1"), info.isUnsigned());
          assertEquals(row[8].equals("1"), info.isJsSafe());
          assertEquals(Long.parseLong(row[9]), info.tickMs());
        });
  }

  @Test
  void everyIdDecodesToItsFieldsAndTheFieldsEncodeToTheId() {
    forEach(
        Vectors.rows("layouts.tsv"),
        row -> {
          // Layouts without time have no epoch: the library refuses one.
          var layout = row[1].equals("-") ? Layout.parse(row[0]) : Layout.parse(row[0], row[1]);
          long id = Long.parseUnsignedLong(row[2]);
          var parts = layout.decode(id);
          Map<Field, Long> values = new EnumMap<>(Field.class);
          for (Field field : FIELDS) {
            String wanted = row[4 + field.ordinal()];
            assertEquals(!wanted.equals("-"), parts.has(field), field + " of " + row[2]);
            assertEquals(Vectors.unsigned(wanted), parts.get(field), field + " of " + row[2]);
            if (parts.has(field)) values.put(field, parts.get(field));
          }
          if (parts.has(Field.TIME)) {
            assertEquals(Long.parseLong(row[3]), parts.unixMs());
            assertEquals(Long.parseLong(row[3]), parts.instant().toEpochMilli());
          }
          assertEquals(id, layout.encode(parts));
          assertEquals(id, layout.encode(Parts.of(values)));
        });
  }

  @Test
  void layoutsBeyond64BitsAreRefusedAsUnsupported() {
    forEach(
        Vectors.rows("layouts_wide.tsv"),
        row -> {
          var layout = row[1].equals("-") ? Layout.parse(row[0]) : Layout.parse(row[0], row[1]);
          var refusal = assertThrows(ConfigException.class, () -> layout.decode(0));
          assertEquals(Status.UNSUPPORTED, refusal.status());
        });
  }

  @Test
  void everyIdHasTheSameTextInEveryEncoding() {
    forEach(
        Vectors.rows("encodings.tsv"),
        row -> {
          long id = Long.parseUnsignedLong(row[0]);
          for (IdText form : IdText.values()) {
            String text = row[1 + form.ordinal()];
            assertEquals(text, form.format(id), form.name());
            assertEquals(id, form.parse(text), form.name());
          }
        });
  }

  @Test
  void everyInstantIsUnderstoodAsAnEpoch() {
    forEach(
        Vectors.rows("instants.tsv"),
        row -> {
          var layout = Layout.parse("time:41ms worker:10 sequence:12", row[0]);
          assertEquals(Long.parseLong(row[1]), layout.info().epochUnixMs());
          assertEquals(Long.parseLong(row[1]), Layout.parse("default", row[2]).info().epochUnixMs());
        });
  }

  @Test
  void everyBadLayoutIsRefusedWithTheSameMessage() {
    forEach(
        Vectors.rows("bad_layouts.tsv"),
        row -> assertRefusal(row[2], row[3], () -> Layout.parse(row[0], row[1])));
  }

  @Test
  void everyBadTextIsRefusedWithTheSameMessage() {
    forEach(
        Vectors.rows("bad_texts.tsv"),
        row -> assertRefusal(row[2], row[3], () -> IdText.valueOf(row[0].toUpperCase(Locale.ROOT)).parse(row[1])));
  }

  private static void assertRefusal(String statusName, String message, Runnable call) {
    var refusal = assertThrows(ConfigException.class, call::run);
    assertEquals(statusName, refusal.statusName());
    assertEquals(message, refusal.getMessage());
  }

  /** Checks all rows, so that a failure lists every one that differs. */
  private static void forEach(java.util.List<String[]> rows, Consumer<String[]> check) {
    assertAll(
        rows.stream().map(row -> () -> assertAll(String.join(" | ", row), () -> check.accept(row))));
  }
}
