package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the builder takes and refuses, and the exceptions of the library's statuses. */
class ConfigurationTest {
  private static Generator.Builder memory() {
    return Generator.builder().kind("segment").store("memory").storeCreate(true);
  }

  @Test
  void textThatUtf8CannotCarryIsRefusedBeforeTheLibrarySeesIt() {
    assertThrows(IllegalArgumentException.class, () -> memory().tag("or\0ders").build());
    assertThrows(IllegalArgumentException.class, () -> memory().tag("\uD83D").build());
    assertThrows(IllegalArgumentException.class, () -> memory().admin().segmentMaxOf("or\0ders", "id"));
    assertThrows(IllegalArgumentException.class, () -> memory().admin().segmentMaxOf("orders", "i\0d"));
    assertThrows(NullPointerException.class, () -> memory().tag(null));
    assertThrows(NullPointerException.class, () -> Layout.parse(null));
  }

  @Test
  void timesAreGivenInWholeMilliseconds() {
    assertThrows(IllegalArgumentException.class, () -> memory().waitMax(Duration.ofNanos(1)));
    try (var ids = memory().waitMax(Duration.ofSeconds(2)).build()) {
      assertEquals(1, ids.next());
    }
    var fine = Instant.parse("2025-01-01T00:00:00.0005Z");
    var refusal = assertThrows(IllegalArgumentException.class, () -> Generator.builder().epoch(fine));
    assertTrue(refusal.getMessage().contains(fine.toString()), refusal::getMessage);
    assertThrows(IllegalArgumentException.class, () -> Layout.parse("default", fine));
  }

  @Test
  void theBuilderHasAMethodForEveryProperty() {
    for (var property : Idgen.properties()) {
      for (String text : List.of(property.type(), property.help(), property.since())) {
        assertFalse(text.isEmpty(), property::toString);
      }
    }
    var wanted = Idgen.properties().stream().map(property -> camelCase(property.name())).collect(Collectors.toSet());
    assertEquals(new TreeSet<>(wanted), setters().map(Method::getName).collect(Collectors.toCollection(TreeSet::new)));
  }

  private static Stream<Method> setters() {
    return Arrays.stream(PropertySetters.class.getDeclaredMethods())
        .filter(method -> Modifier.isPublic(method.getModifiers()));
  }

  private static String camelCase(String key) {
    return Pattern.compile("[._]([a-z])")
        .matcher(key)
        .replaceAll(match -> match.group(1).toUpperCase(java.util.Locale.ROOT));
  }

  @Test
  void everyBuilderMethodSetsThePropertyOfItsName() throws Exception {
    Map<Class<?>, Object> samples = Map.of(String.class, "\u0001", long.class, -1L, double.class, -1.0, Duration.class,
        Duration.ofMillis(-1), Instant.class, Instant.EPOCH, Path.class, Path.of("\u0001"), boolean.class, true);
    for (var setter : setters().toList()) {
      var builder = Generator.builder();
      setter.invoke(builder, samples.get(setter.getParameterTypes()[0]));
      assertEquals(
          List.of(setter.getName()),
          builder.configuration.properties.keySet().stream().map(ConfigurationTest::camelCase).toList());
    }
  }

  @Test
  void aPlaceOfKeysReplacesKeysOfTheProgram() {
    assertNull(Generator.builder().keys(List::of).cipherKey("env:KEYS").configuration.ownKeys);
  }

  @Test
  void theVersionIsThatOfTheLibrary() {
    assertTrue(Idgen.version().matches("[0-9]+[.][0-9]+[.][0-9]+"), Idgen.version());
  }

  @Test
  void theStatusConstantsAreTheLibrarys() throws Exception {
    var library = new HashMap<String, Integer>();
    statuses().forEach(status -> library.put(Text.string(IdgenJNI.idgen_status_name(status)), status));
    library.remove("OK");
    library.put("HOST", 1000);
    var ours = new HashMap<String, Integer>();
    for (var constant : Status.class.getFields()) {
      assertTrue(Modifier.isStatic(constant.getModifiers()));
      ours.put(constant.getName(), constant.getInt(null));
    }
    assertEquals(library, ours);
  }

  private static IntStream statuses() {
    return LongStream.range(0, IdgenJNI.idgen_status_count()).mapToInt(IdgenJNI::idgen_status_at);
  }

  @Test
  void everyStatusHasTheExceptionOfItsFamily() {
    for (int status : statuses().filter(status -> status != 0).toArray()) {
      Class<? extends IdgenException> family = status < 20 ? ConfigException.class
          : status < 40                                    ? StateException.class
          : status < 60                                    ? ClockException.class
          : status < 80                                    ? StoreException.class
                                                           : IdgenException.class;
      var error = Errors.of(status, Text.utf8("why"), 1_500_000, 3, 0);
      assertInstanceOf(family, error);
      assertEquals("why", error.getMessage());
      assertEquals(Duration.ofNanos(1_500_000), error.retryAfter());
      assertEquals(3, error.written());
      assertEquals(IdgenJNI.idgen_status_is_retryable(status) == 1, error.retryable());
    }
  }
}
