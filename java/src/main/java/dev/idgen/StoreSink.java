package dev.idgen;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;

/** What the library holds for a store. The program's own object is separate, so that it can be released earlier. */
final class StoreSink {
  /** IDGEN_ENDS_WAITS. */
  private static final long ENDS_WAITS = -1;

  /** Bytes of a message in the library. */
  private static final int LONGEST = 495;

  /** Of a WorkerRow, as the natives read it. */
  private static final int ROW_NUMBERS = 6;

  private static final int ROW_TEXTS = 2;

  /** What connection strings and drivers' messages may hold. It is better to hide too much than too little. */
  private static final Pattern PASSWORD_OF_URL = Pattern.compile("(://[^\\s:/@]*):\\S*@");

  private static final Pattern PASSWORD =
      Pattern.compile(
          "\\b(\\w*(?:password|passwd|pwd|secret|token))(['\"]?\\s*[=:]\\s*)('[^']*'|\"[^\"]*\"|[^\\s&;,)]+)",
          Pattern.CASE_INSENSITIVE);

  /** What a store threw, by the number that the library returns with the errors of the calls that fail for it. */
  private record Thrown(long number, Throwable exception) {}

  /** The latest of each store, kept because it answers on another thread, or later. */
  private static final Set<StoreSink> SINKS =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  private static final AtomicLong NUMBERS = new AtomicLong();

  private volatile Store store;
  private volatile Thrown latest;

  /** The previous one: a call may still carry it while the next attempt fails. */
  private volatile Thrown before;

  StoreSink(Store store) {
    this.store = store;
    SINKS.add(this);
  }

  /** Called by the natives, on any thread. Null, and the first number in numbers[0]; or as {@link #failure}. */
  byte[] take(byte[] namespace, byte[] tag, long count, long above, long[] numbers) {
    try {
      numbers[0] =
          above == 0
              ? current().segmentTake(Text.string(namespace), Text.string(tag), count)
              : current().segmentTakeAbove(Text.string(namespace), Text.string(tag), count, above);
      latest = before = null;
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

  boolean hasWorkers() {
    return store instanceof WorkerStore;
  }

  /** Called by the natives, on any thread. Null, and the format in out[0]; or as {@link #failure}. */
  byte[] namespaceFormat(byte[] namespace, byte[] format, Object[] out, long[] numbers) {
    try {
      out[0] = workers().namespaceFormat(Text.string(namespace), Text.string(format)).getBytes(UTF_8);
      return null;
    } catch (Throwable e) {
      return failure(e, numbers);
    }
  }

  /** Called by the natives, on any thread. Null, and the row as {@link #write} says; or as {@link #failure}. */
  byte[] workerRead(byte[] namespace, long worker, Object[] out, long[] numbers) {
    try {
      write(List.of(workers().workerRead(Text.string(namespace), worker)), out);
      return null;
    } catch (Throwable e) {
      return failure(e, numbers);
    }
  }

  /** As workerRead, for all rows. */
  byte[] workerList(byte[] namespace, long nothing, Object[] out, long[] numbers) {
    try {
      write(workers().workerList(Text.string(namespace)), out);
      return null;
    } catch (Throwable e) {
      return failure(e, numbers);
    }
  }

  /** Called by the natives, on any thread. Null, and in numbers[0] whether it was changed; or as {@link #failure}. */
  byte[] workerReplace(byte[] namespace, long[] change, byte[][] texts, long[] numbers) {
    try {
      var asked =
          new WorkerChange(
              change[0],
              change[1],
              Text.string(texts[0]),
              change[2],
              change[3],
              Text.string(texts[1]),
              change[4],
              Text.string(texts[2]),
              change[5],
              change[6],
              change[7]);
      numbers[0] = workers().workerReplace(Text.string(namespace), asked) ? 1 : 0;
      latest = before = null;
      return null;
    } catch (Throwable e) {
      return failure(e, numbers);
    }
  }

  /** In out[0] a long[] with all numbers of each row, in out[1] a byte[][] with its texts. */
  private static void write(List<WorkerRow> rows, Object[] out) {
    var numbers = new long[ROW_NUMBERS * rows.size()];
    var texts = new byte[ROW_TEXTS * rows.size()][];
    for (int i = 0; i < rows.size(); i++) {
      var row = rows.get(i);
      long[] of = {
        row.worker(), row.fence(), row.hwMs(), row.leaseLeftMs(), row.clockAheadMs(), row.storeNowMs()
      };
      System.arraycopy(of, 0, numbers, ROW_NUMBERS * i, ROW_NUMBERS);
      texts[ROW_TEXTS * i] = row.owner().getBytes(UTF_8);
      texts[ROW_TEXTS * i + 1] = row.holder().getBytes(UTF_8);
    }
    out[0] = numbers;
    out[1] = texts;
  }

  private WorkerStore workers() {
    return (WorkerStore) current();
  }

  void forget() {
    store = null;
    latest = before = null;
  }

  /** What a store threw, by its number. Null if newer exceptions have come since. */
  static Throwable causeOf(long number) {
    synchronized (SINKS) {
      for (StoreSink sink : SINKS) {
        for (Thrown thrown : new Thrown[] {sink.latest, sink.before}) {
          if (thrown != null && thrown.number == number) return thrown.exception;
        }
      }
    }
    return null;
  }

  private Store current() {
    var current = store;
    if (current == null) throw Errors.of(Status.STORE_UNAVAILABLE, "the generator was closed, and its store let go");
    return current;
  }

  /** The message; in numbers the status, the ns until a retry makes sense, the number of the cause. */
  private byte[] failure(Throwable e, long[] numbers) {
    if (e instanceof InterruptedException) Thread.currentThread().interrupt();
    numbers[0] = e instanceof IdgenException known ? known.status() : Status.HOST;
    numbers[1] = e instanceof IdgenException known ? known.endsWaits() ? ENDS_WAITS : known.retryAfter().toNanos() : 0;
    numbers[2] = NUMBERS.incrementAndGet();
    before = latest;
    // The call's exception repeats what an IdgenException of the store says, so only its cause is passed on.
    latest = new Thrown(numbers[2], e instanceof IdgenException && e.getCause() != null ? e.getCause() : e);
    String message =
        e instanceof IdgenException ? String.valueOf(e.getMessage()) : "the program's own store: " + textOf(e);
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
    return java.util.Arrays.copyOf(bytes, end);
  }
}
