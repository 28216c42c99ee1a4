package dev.idgen;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;

/**
 * What the library holds for a store of the program. The program's own object is separate, so that it can be released
 * earlier.
 */
abstract class HostSink {
  /** IDGEN_ENDS_WAITS. */
  private static final long ENDS_WAITS = -1;

  /** Bytes of a message in the library. */
  private static final int LONGEST = 495;

  /** What connection strings and drivers' messages may hold. It is better to hide too much than too little. */
  private static final Pattern PASSWORD_OF_URL = Pattern.compile("(://[^\\s:/@]*):\\S*@");

  private static final Pattern PASSWORD =
      Pattern.compile(
          "\\b(\\w*(?:password|passwd|pwd|secret|token))(['\"]?\\s*[=:]\\s*)('[^']*'|\"[^\"]*\"|[^\\s&;,)]+)",
          Pattern.CASE_INSENSITIVE);

  /** What a store threw, by the number that the library returns with the errors of the calls that fail for it. */
  private record Thrown(long number, Throwable exception) {}

  /** The latest of each store, kept because it answers on another thread, or later. */
  private static final Set<HostSink> SINKS =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  private static final AtomicLong NUMBERS = new AtomicLong();

  private volatile Thrown latest;

  /** The previous one: a call may still carry it while the next attempt fails. */
  private volatile Thrown previous;

  HostSink() {
    SINKS.add(this);
  }

  abstract void giveTo(long config);

  /** The generator is closed. */
  abstract void forget();

  final void forgetFailures() {
    latest = previous = null;
  }

  /** What a store threw, by its number. Null if newer exceptions have come since. */
  static Throwable causeOf(long number) {
    synchronized (SINKS) {
      for (HostSink sink : SINKS) {
        for (Thrown thrown : new Thrown[] {sink.latest, sink.previous}) {
          if (thrown != null && thrown.number == number) return thrown.exception;
        }
      }
    }
    return null;
  }

  static IdgenException wasLetGo() {
    return Errors.of(Status.STORE_UNAVAILABLE, "the generator was closed, and its store let go");
  }

  /**
   * The message: {@code words}, or that of an IdgenException. In numbers the status, the ns until a retry makes sense,
   * the number of the cause.
   */
  final byte[] failure(Throwable e, String words, long[] numbers) {
    if (e instanceof InterruptedException) Thread.currentThread().interrupt();
    numbers[0] = e instanceof IdgenException known ? known.status() : Status.HOST;
    numbers[1] = e instanceof IdgenException known ? known.endsWaits() ? ENDS_WAITS : known.retryAfter().toNanos() : 0;
    numbers[2] = NUMBERS.incrementAndGet();
    previous = latest;
    // The call's exception repeats what an IdgenException of the store says, so only its cause is passed on.
    latest = new Thrown(numbers[2], e instanceof IdgenException && e.getCause() != null ? e.getCause() : e);
    String message = e instanceof IdgenException ? String.valueOf(e.getMessage()) : words;
    return limited(message.replace('\0', ' '));
  }

  /** The exception in words, without what looks like a password. */
  static String textOf(Throwable e) {
    if (e.getMessage() == null) return e.getClass().getSimpleName();
    String text = e.getMessage().strip().replaceAll("\\s+", " ");
    text = PASSWORD_OF_URL.matcher(text).replaceAll("$1:***@");
    return e.getClass().getSimpleName() + ": " + PASSWORD.matcher(text).replaceAll("$1$2***");
  }

  /** Cut at a character. */
  private static byte[] limited(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    if (bytes.length <= LONGEST) return bytes;
    int end = LONGEST;
    while ((bytes[end] & 0xC0) == 0x80) end--;
    return Arrays.copyOf(bytes, end);
  }
}
