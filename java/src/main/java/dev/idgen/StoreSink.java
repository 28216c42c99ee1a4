package dev.idgen;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.regex.Pattern;

/** What the library holds for a store. The program's own object is apart from it, so that it can be let go before. */
final class StoreSink {
  /** Bytes of a message in the library. */
  private static final int LONGEST = 495;

  /** What connection strings and drivers' messages may hold. Rather too much is hidden than too little. */
  private static final Pattern PASSWORD_OF_URL = Pattern.compile("(://[^\\s:/@]*):\\S*@");

  private static final Pattern PASSWORD =
      Pattern.compile(
          "\\b(\\w*(?:password|passwd|pwd|secret|token))(['\"]?\\s*[=:]\\s*)('[^']*'|\"[^\"]*\"|[^\\s&;,)]+)",
          Pattern.CASE_INSENSITIVE);

  private volatile Store store;

  StoreSink(Store store) {
    this.store = store;
  }

  /** Called by the natives, on any thread. Null, and the first number in numbers[0]; or as {@link #failure}. */
  byte[] take(byte[] namespace, byte[] tag, long count, long nothing, long[] numbers) {
    try {
      numbers[0] = current().segmentTake(Text.string(namespace), Text.string(tag), count);
      return null;
    } catch (Throwable e) {
      return failure(e, numbers);
    }
  }

  /** Called by the natives, on any thread. Null; or as {@link #failure}. */
  byte[] giveBack(byte[] namespace, byte[] tag, long last, long unused, long[] numbers) {
    try {
      current().segmentReturn(Text.string(namespace), Text.string(tag), last, unused);
      return null;
    } catch (Throwable e) {
      return failure(e, numbers);
    }
  }

  void forget() {
    store = null;
  }

  private Store current() {
    var current = store;
    if (current == null) throw Errors.of(Status.STORE_UNAVAILABLE, "the generator was closed, and its store let go");
    return current;
  }

  /** The message; the status in numbers[0], the ns until a retry makes sense in numbers[1]. */
  private static byte[] failure(Throwable e, long[] numbers) {
    if (e instanceof InterruptedException) Thread.currentThread().interrupt();
    numbers[0] = e instanceof IdgenException known ? known.status() : Status.HOST;
    numbers[1] = e instanceof IdgenException known ? known.retryAfter().toNanos() : 0;
    String message =
        e instanceof IdgenException ? String.valueOf(e.getMessage()) : "the program's own store: " + textOf(e);
    return limited(message.replace('\0', ' '));
  }

  /** An exception in words, without what looks like a password. */
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
    return java.util.Arrays.copyOf(bytes, end);
  }
}
