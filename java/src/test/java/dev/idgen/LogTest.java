package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an operator wants to know reaches the program's log, from any thread of the library. */
class LogTest {
  @TempDir Path folder;

  private Generator failing(BiConsumer<System.Logger.Level, String> log) throws Exception {
    var ids = Builders.segment(folder).segmentStep(10).waitMax(Duration.ofMillis(100)).log(log).build();
    try (var files = Files.list(folder)) {
      for (Path file : files.toList()) Files.delete(file);
    }
    assertThrows(StoreException.class, () -> {
      while (true) ids.next();
    });
    return ids;
  }

  @Test
  void theLogHearsOfAStoreThatFails() throws Exception {
    record Message(System.Logger.Level level, String text) {}
    var heard = new LinkedBlockingQueue<Message>();
    var ids = failing((level, text) -> heard.add(new Message(level, text)));
    var first = heard.take();
    assertEquals(System.Logger.Level.WARNING, first.level());
    assertTrue(first.text().contains("'orders'"), first::text);
    ids.close();
  }

  @Test
  void aLogThatThrowsDisturbsNobodyElse() throws Exception {
    var thrown = new LinkedBlockingQueue<Throwable>();
    var before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler((thread, e) -> thrown.add(e));
    try {
      var ids = failing((level, text) -> {
        throw new IllegalStateException("a full disk");
      });
      var first = thrown.take();
      assertEquals("a full disk", first.getMessage());
      ids.close();
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
  }
}
