package dev.idgen;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;

/** What the library holds for a {@link Store}. */
final class StoreSink extends HostSink {
  /** Of a WorkerRow, as the natives read it. */
  private static final int ROW_NUMBERS = 6;

  private static final int ROW_TEXTS = 2;

  private volatile Store store;

  StoreSink(Store store) {
    this.store = store;
  }

  @Override
  void giveTo(long config) {
    IdgenJNI.configSetStore(config, this, store instanceof WorkerStore);
  }

  /** Called by the natives, on any thread. Null, and the first number in numbers[0]; or as {@link #failure}. */
  byte[] take(byte[] namespace, byte[] tag, long count, long above, long[] numbers) {
    try {
      numbers[0] =
          above == 0
              ? current().segmentTake(Text.string(namespace), Text.string(tag), count)
              : current().segmentTakeAbove(Text.string(namespace), Text.string(tag), count, above);
      forgetFailures();
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
      forgetFailures();
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

  @Override
  void forget() {
    store = null;
    forgetFailures();
  }

  private Store current() {
    var current = store;
    if (current == null) throw wasLetGo();
    return current;
  }

  private byte[] failure(Throwable e, long[] numbers) {
    return failure(e, "the program's own store: " + textOf(e), numbers);
  }
}
