package dev.idgen;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.idgen.testing.ManualClock;
import java.math.BigInteger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The same input gives the same result as in the other languages. */
class VectorsTest {
  private static final Field[] FIELDS = Field.values();
  private static final AtomicInteger STORES = new AtomicInteger();

  @Test
  void everyPresetHasTheSameTextEpochAndCapacity() {
    assertEquals(Vectors.rows("presets.tsv").stream().map(row -> row[0]).toList(), Layout.presets());
    forEach("presets.tsv", row -> {
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
    forEach("layouts.tsv", row -> {
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
      assertEquals(id, layout.encode(IdParts.of(values)));
      assertEquals(parts, layout.decode(WideId.of(id)));
      assertEquals(WideId.of(id), layout.encodeWide(parts));
    });
  }

  @Test
  void everyIdOfSixteenBytesDecodesToItsFieldsAndTheFieldsEncodeToTheId() {
    forEach("layouts_wide.tsv", row -> {
      var layout = Layout.parse(row[0], row[1]);
      var id = wideId(row[2]);
      var parts = layout.decode(id);
      for (Field field : FIELDS) {
        String wanted = row[4 + field.ordinal()];
        assertEquals(!wanted.equals("-"), parts.has(field), field + " of " + row[2]);
        var number = new BigInteger(wanted.equals("-") ? "0" : wanted);
        assertEquals(number.longValue(), parts.get(field), field + " of " + row[2]);
        if (field == Field.SEGMENT) assertEquals(number.shiftRight(64).longValueExact(), parts.segmentHigh());
      }
      if (parts.has(Field.TIME)) assertEquals(Long.parseLong(row[3]), parts.unixMs());
      if (parts.has(Field.SEGMENT)) {
        assertTrue(parts.toString().contains("segment=" + row[12] + "]"), parts::toString);
      }
      assertEquals(id, layout.encodeWide(parts));
      assertThrows(ConfigException.class, () -> layout.decode(0));
      assertThrows(ConfigException.class, () -> layout.encode(parts));
    });
  }

  private static WideId wideId(String decimal) {
    byte[] bytes = new BigInteger(decimal).toByteArray(); // as few as the sign allows
    var sixteen = new byte[16];
    System.arraycopy(bytes, 0, sixteen, sixteen.length - bytes.length, bytes.length);
    return WideId.of(sixteen);
  }

  @Test
  void everyOwnerHasTheSameGene() {
    var hashed = Layout.parse("gene:63 segment:64");
    var order = Layout.parse("order");
    forEach("genes.tsv", row -> {
      assertEquals(Long.parseLong(row[6]), geneOf(hashed, row, GeneRule.HASH));
      assertEquals(Long.parseLong(row[6]), geneOf(hashed, row, GeneRule.AUTO));
      if (row[2].equals("-")) {
        var refusal = assertThrows(ConfigException.class, () -> geneOf(order, row, GeneRule.MOD));
        assertEquals(Status.VALUE, refusal.status());
      } else {
        assertEquals(Long.parseLong(row[2]), geneOf(order, row, GeneRule.MOD));
      }
    });
  }

  private static long geneOf(Layout layout, String[] row, GeneRule rule) {
    return switch (row[0]) {
      case "integer" -> layout.gene(Long.parseLong(row[1]), rule);
      case "text" -> layout.gene(row[1], rule);
      case "bytes" -> layout.gene(HexFormat.of().parseHex(row[1]), rule);
      default -> throw new IllegalStateException(row[0] + " is no kind of owner");
    };
  }

  @Test
  void everyCallThatTakesAnOwnerMakesTheSameIdsAndRefusals() {
    forEach("owners.tsv", row -> {
      byte[] bytes = row[3].equals("bytes") ? HexFormat.of().parseHex(row[4]) : row[4].getBytes(UTF_8);
      var forms = new ArrayList<Object>(List.of(bytes));
      if (!row[3].equals("bytes")) forms.add(row[4]);
      if (row[3].equals("integer")) forms.add(Long.valueOf(row[4]));
      for (Object owner : forms) {
        for (int call = row[2].equals("wide") ? 4 : 0; call < (row[2].equals("narrow") ? 4 : 7); call++) {
          assertEquals(String.join("\t", row[6], row[7], row[8]), drawn(row, owner, call), "call " + call);
        }
      }
    });
  }

  /** The ids that one of {@link #callsFor} makes in a new store, and the refusal that ends them. */
  private static String drawn(String[] row, Object owner, int call) {
    var builder =
        Generator.builder().store("memory:owners" + STORES.incrementAndGet()).storeCreate(true).tag("orders");
    if (!row[1].equals("0")) {
      builder.admin().createSegment();
      builder.admin().advanceSegment(Long.parseLong(row[1]));
    }
    for (String property : row[0].split("; ")) {
      int sign = property.indexOf('=');
      builder.set(property.substring(0, sign), property.substring(sign + 1));
    }
    var ids = new long[Integer.parseInt(row[5])];
    var wide = new WideId[ids.length];
    String refusal = "\t";
    try (var made = builder.clock(new ManualClock()).build()) {
      callsFor(owner, made, ids, wide).get(call).run();
      if (call >= 4) {
        for (WideId id : wide) {
          var layout = id.size() == 16 ? Layout.parse("business128") : made.layout();
          assertEquals(id, layout.encodeWide(made.decode(id)));
        }
      }
    } catch (IdgenException refused) {
      refusal = refused.statusName() + "\t" + refused.getMessage();
    }
    var narrow = Arrays.stream(ids).filter(id -> id != 0).mapToObj(Long::toString);
    var either = Arrays.stream(wide).filter(Objects::nonNull);
    var texts = either.map(id -> id.size() == 16 ? IdText.HEX.format(id) : Long.toString(id.toLong()));
    return Stream.concat(narrow, texts).collect(Collectors.joining(",")) + "\t" + refusal;
  }

  /** The calls that take an owner: four that fill ids of 8 bytes, and three that fill ids of either length. */
  private static List<Runnable> callsFor(Object owner, Generator made, long[] ids, WideId[] wide) {
    if (owner instanceof Long number) {
      var each = new long[ids.length];
      Arrays.fill(each, number);
      return List.of(() -> Arrays.setAll(ids, at -> made.nextFor(number)),
          () -> Arrays.setAll(ids, at -> made.tryNextFor(number).orElseGet(() -> made.nextFor(number))),
          () -> made.fillFor(number, ids), () -> made.fillForEach(each, ids),
          () -> Arrays.setAll(wide, at -> made.nextWideFor(number)), () -> made.fillWideFor(number, wide),
          () -> made.fillWideForEach(each, wide));
    } else if (owner instanceof String text) {
      var each = Collections.nCopies(ids.length, text).toArray(String[]::new);
      return List.of(() -> Arrays.setAll(ids, at -> made.nextFor(text)),
          () -> Arrays.setAll(ids, at -> made.tryNextFor(text).orElseGet(() -> made.nextFor(text))),
          () -> made.fillFor(text, ids), () -> made.fillForEach(each, ids),
          () -> Arrays.setAll(wide, at -> made.nextWideFor(text)), () -> made.fillWideFor(text, wide),
          () -> made.fillWideForEach(each, wide));
    }
    var bytes = (byte[]) owner;
    var each = Collections.nCopies(ids.length, bytes).toArray(byte[][]::new);
    return List.of(() -> Arrays.setAll(ids, at -> made.nextFor(bytes)),
        () -> Arrays.setAll(ids, at -> made.tryNextFor(bytes).orElseGet(() -> made.nextFor(bytes))),
        () -> made.fillFor(bytes, ids), () -> made.fillForEach(each, ids),
        () -> Arrays.setAll(wide, at -> made.nextWideFor(bytes)), () -> made.fillWideFor(bytes, wide),
        () -> made.fillWideForEach(each, wide));
  }

  @Test
  void everyIdHasTheSameTextInEveryEncoding() {
    forEach("encodings.tsv", row -> {
      long id = Long.parseUnsignedLong(row[0]);
      for (IdText form : IdText.values()) {
        String text = row[1 + form.ordinal()];
        assertEquals(text, form.format(id), form.name());
        assertEquals(id, form.parse(text), form.name());
        assertEquals(text, form.format(WideId.of(id)), form.name());
        assertEquals(WideId.of(id), form.parseWide(text), form.name());
      }
    });
  }

  @Test
  void everyIdOfSixteenBytesHasTheSameTextInEveryEncoding() {
    forEach("encodings_wide.tsv", row -> {
      var id = WideId.of(HexFormat.of().parseHex(row[0]));
      for (IdText form : IdText.values()) {
        String text = row[1 + form.ordinal()];
        assertEquals(text, form.format(id), form.name());
        assertEquals(id, form.parseWide(text), form.name());
      }
    });
  }

  @Test
  void everyStandardIdIsReadTakenApartAndWrittenInTheSameWay() {
    forEach("standard.tsv", row -> {
      var standard = Standard.valueOf(row[1].toUpperCase(Locale.ROOT));
      byte[] id = HexFormat.of().parseHex(row[8]);
      assertEquals(new ParsedStandard(standard, id), StandardIds.parse(row[0]));
      assertEquals(row[7], StandardIds.format(standard, id));
      var unixMs = row[4].isEmpty() ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(row[4]));
      var wanted = new StandardParts(standard, Integer.parseInt(row[2]), row[3].equals("yes"), unixMs,
          row[5].isEmpty() ? 0 : Long.parseLong(row[5]), row[6].isEmpty() ? 0 : Integer.parseInt(row[6]));
      var parts = StandardIds.decode(standard, id);
      assertEquals(wanted, parts);
      if (unixMs.isPresent()) assertEquals(Instant.ofEpochMilli(unixMs.getAsLong()), parts.instant());
      if (row[1].startsWith("uuid")) {
        assertEquals(wanted, StandardIds.decode(UUID.fromString(row[7])));
        for (Standard any : EnumSet.range(Standard.UUID, Standard.UUID7)) {
          assertEquals(wanted, StandardIds.decode(any, id));
          assertEquals(row[7], StandardIds.format(any, id));
        }
      }
    });
  }

  @Test
  void everyInstantIsUnderstoodAsAnEpoch() {
    forEach("instants.tsv", row -> {
      var layout = Layout.parse("time:41ms worker:10 sequence:12", row[0]);
      assertEquals(Long.parseLong(row[1]), layout.info().epochUnixMs());
      assertEquals(Long.parseLong(row[1]), Layout.parse("default", row[2]).info().epochUnixMs());
    });
  }

  @Test
  void everyBadLayoutIsRefusedWithTheSameMessage() {
    forEach("bad_layouts.tsv", row -> assertRefusal(row[2], row[3], () -> Layout.parse(row[0], row[1])));
  }

  @Test
  void everyBadTextIsRefusedWithTheSameMessage() {
    forEach("bad_texts.tsv", row -> assertRefusal(row[2], row[3], () -> parse(row[0], row[1])));
  }

  @Test
  void everyTextIsWrittenAndReadBack() {
    forEach("patterns.tsv", row -> {
      var pattern = TextPattern.of(row[0], row[1], row[2].isEmpty() ? null : Layout.parse(row[2]));
      var number = new BigInteger(row[4]);
      var id =
          row[3].equals("8")
              ? WideId.of(number.longValue())
              : WideId.of(new UUID(number.shiftRight(64).longValue(), number.longValue()));
      assertEquals(row[5], pattern.format(id));
      if (row[3].equals("8")) assertEquals(row[5], pattern.format(id.toLong()));
      var parts = pattern.parse(row[5]);
      assertEquals(id, parts.id());
      assertEquals(number, parts.number().toBigInteger());
    });
  }

  @Test
  void everyBadPatternIsRefusedWithTheSameMessage() {
    forEach("bad_patterns.tsv", row -> assertRefusal(row[4], row[5], () -> {
      var pattern = TextPattern.of(row[0], "UTC", row[1].isEmpty() ? null : Layout.parse(row[1]));
      if (!row[2].equals("-")) pattern.format(Long.parseUnsignedLong(row[2]));
      if (!row[3].equals("-")) pattern.parse(row[3]);
    }));
  }

  private static void parse(String encoding, String text) {
    if (encoding.equals("standard")) {
      StandardIds.parse(text);
    } else {
      IdText.valueOf(encoding.toUpperCase(Locale.ROOT)).parse(text);
    }
  }

  private static void assertRefusal(String statusName, String message, Runnable call) {
    var refusal = assertThrows(ConfigException.class, call::run);
    assertEquals(statusName, refusal.statusName());
    assertEquals(message, refusal.getMessage());
  }

  /** Checks all rows, so that a failure lists every one that differs. */
  private static void forEach(String file, Consumer<String[]> check) {
    assertAll(
        Vectors.rows(file).stream().map(row -> () -> assertAll(String.join(" | ", row), () -> check.accept(row))));
  }
}
