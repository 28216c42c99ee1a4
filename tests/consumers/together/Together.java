import dev.idgen.Generator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Threads of C, Java and Go in one process draw from one generator, each language by its own steps on the same words:
 * none twice, and each thread's ids rise.
 */
public final class Together {
  private static final int THREADS = 2; // of each language
  private static final int EACH = 400_000;

  private static native boolean drawInC(ByteBuffer ids, int threads, int each);

  private static native boolean drawInGo(ByteBuffer ids, int threads, int each);

  private interface Drawing {
    boolean draw(ByteBuffer ids) throws Exception;
  }

  private static final AtomicBoolean failed = new AtomicBoolean();

  private static Thread start(ByteBuffer ids, Drawing drawing) {
    var thread =
        new Thread(
            () -> {
              try {
                if (!drawing.draw(ids)) failed.set(true);
              } catch (Throwable e) {
                e.printStackTrace();
                failed.set(true);
              }
            });
    thread.start();
    return thread;
  }

  private static boolean drawInJava(Generator events, ByteBuffer ids) throws InterruptedException {
    LongBuffer numbers = ids.asLongBuffer();
    var threads = new Thread[THREADS];
    for (int t = 0; t < THREADS; t++) {
      int first = t * EACH;
      threads[t] =
          start(
              ids,
              all -> {
                for (int i = 0; i < EACH; i++) numbers.put(first + i, events.next());
                return true;
              });
    }
    for (var thread : threads) thread.join();
    return true;
  }

  public static void main(String[] arguments) throws Exception {
    var ofLanguage = new ByteBuffer[3];
    for (int i = 0; i < ofLanguage.length; i++)
      ofLanguage[i] = ByteBuffer.allocateDirect(THREADS * EACH * Long.BYTES).order(ByteOrder.nativeOrder());
    int handles = 0;
    try (var events = Generator.open(Path.of("idgen.toml"), "events")) {
      System.load(arguments[0]); // after idgen: the library of Go's finds the JVM's
      var threads =
          new Thread[] {
            start(ofLanguage[0], ids -> drawInC(ids, THREADS, EACH)),
            start(ofLanguage[1], ids -> drawInGo(ids, THREADS, EACH)),
            start(ofLanguage[2], ids -> drawInJava(events, ids)),
          };
      while (Arrays.stream(threads).anyMatch(Thread::isAlive)) {
        handles = Math.max(handles, events.stats().handles());
        Thread.sleep(1);
      }
      for (var thread : threads) thread.join();
    }
    if (failed.get()) System.exit(1);
    if (handles != 3) throw new AssertionError(handles + " handles were on the generator at once, not 3");

    var all = new long[ofLanguage.length * THREADS * EACH];
    for (int i = 0; i < all.length; i++) {
      all[i] = ofLanguage[i / (THREADS * EACH)].asLongBuffer().get(i % (THREADS * EACH));
      if (i % EACH != 0 && all[i] <= all[i - 1]) throw new AssertionError(all[i] + " after " + all[i - 1]);
    }
    Arrays.sort(all);
    for (int i = 1; i < all.length; i++) if (all[i] == all[i - 1]) throw new AssertionError(all[i] + " twice");
    System.out.printf("%d ids by threads of C, Go and Java from one generator%n", all.length);
  }
}
