package dev.idgen;

import java.util.function.BiConsumer;

/** What the library holds for a log. The program's own function is separate, so that it can be released earlier. */
final class LogSink {
  private volatile BiConsumer<System.Logger.Level, String> log;

  LogSink(BiConsumer<System.Logger.Level, String> log) {
    this.log = log;
  }

  /** Called by the natives, on any thread. There is nobody to report an exception to. */
  void accept(int level, byte[] message) {
    var current = log;
    if (current == null) return;
    try {
      current.accept(level(level), Text.string(message));
    } catch (Throwable e) {
      var thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    }
  }

  /** IDGEN_LOG_INFO, _WARNING and _ERROR. */
  private static System.Logger.Level level(int level) {
    return switch (level) {
      case 1 -> System.Logger.Level.INFO;
      case 2 -> System.Logger.Level.WARNING;
      default -> System.Logger.Level.ERROR;
    };
  }

  void forget() {
    log = null;
  }
}
