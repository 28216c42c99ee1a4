package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LayoutTest {
  @Test
  void theFieldsOfALayoutAreListedFromTheMostSignificantOn() {
    assertEquals(
        List.of(new LayoutField(Field.TIME, 39, 24, "time"), new LayoutField(Field.SEQUENCE, 8, 16, "sequence"),
            new LayoutField(Field.WORKER, 16, 0, "worker")),
        Layout.parse("sonyflake").fields());
  }

  @Test
  void yearsLeftAreCountedFromTheGivenTime() {
    var layout = Layout.parse("js53");
    double then = layout.info(Instant.parse("2026-01-01T00:00:00Z")).yearsLeft();
    double later = layout.info(Instant.parse("2036-01-01T00:00:00Z")).yearsLeft();
    assertEquals(10, then - later, 0.01);
  }

  @Test
  void anEpochIsAnInstantOrText() {
    var epoch = Instant.parse("2020-01-01T00:00:00Z");
    var fields = "time:41ms worker:10 sequence:12";
    assertEquals(epoch.toEpochMilli(), Layout.parse(fields, epoch).info().epochUnixMs());
    assertEquals(epoch.toEpochMilli(), Layout.parse(fields, "2020-01-01T00:00:00Z").info().epochUnixMs());
    assertEquals(fields, Layout.parse(fields).toString());
  }

  @Test
  void partsSayWhatTheyHave() {
    var parts = Layout.parse("twitter").decode(1541815603606036480L);
    assertEquals("IdParts[2022-06-28T16:07:40.105Z, datacenter=11, worker=26, sequence=0]", parts.toString());
    var timeless = IdParts.of(Map.of(Field.SEGMENT, 5L));
    assertEquals("IdParts[segment=5]", timeless.toString());
    assertThrows(IllegalStateException.class, timeless::instant);
  }

  @Test
  void theFieldConstantsAreTheLibrarys() {
    for (String preset : Layout.presets()) {
      for (var field : Layout.parse(preset).fields()) assertEquals(field.kind().fieldName(), field.name());
    }
  }
}
