package dev.idgen.testing;

import dev.idgen.ConfigException;
import dev.idgen.Generator;
import dev.idgen.IdParts;
import dev.idgen.IdSource;
import dev.idgen.IdgenException;
import dev.idgen.Status;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * A generator that a test tells what to do. It draws from a real one, over a store of its own in memory: each starts
 * afresh, and nothing of it is left once it is closed. Any number of threads may use it. For whatever has no method
 * here there is {@link #get()}.
 */
public final class ScriptedGenerator implements IdSource {
  private final Generator generator;
  private final ManualClock clock;
  private int status; // of the calls that fail; 0: none does. Guarded by this, as the next three
  private long idsBefore; // that are still drawn
  private int calls; // that fail then; 0: all
  private int tellings; // so far

  private ScriptedGenerator(Generator generator, ManualClock clock) {
    this.generator = generator;
    this.clock = clock;
  }

  /**
   * A generator of consecutive numbers.
   *
   * @param start the first
   * @return a generator that has its first reservation
   * @throws IllegalArgumentException if {@code start} is below 1 or above 2^62
   */
  public static ScriptedGenerator segment(long start) {
    return with(Generator.builder().kind("segment")).start(start).build();
  }

  /**
   * A snowflake generator, worker 1.
   *
   * @param at the time of the first id, where the clock stands still: see {@link #clock()}
   * @return a generator that has its first reservation
   */
  public static ScriptedGenerator snowflake(Instant at) {
    return snowflake(at, 0);
  }

  /**
   * A snowflake generator, worker 1.
   *
   * @param at the time of the first id, where the clock stands still: see {@link #clock()}
   * @param sequence that of the first id: 0 to what the layout holds in a tick. Those below are drawn and dropped
   * @return a generator that has its first reservation
   * @throws IllegalArgumentException if {@code sequence} is out of range
   */
  public static ScriptedGenerator snowflake(Instant at, int sequence) {
    return with(Generator.builder().worker(1)).at(at).sequence(sequence).build();
  }

  /**
   * Begins a generator of any configuration, one of a file too: {@code with(Generator.builder().load(path, "orders"))}
   * has the layout, the pattern and the policies of production, but never its store, its {@code worker_source} or its
   * {@code witness}. A store and a clock that the builder was given have no effect: the generator has its own.
   *
   * @param builder the configuration, of which a copy is made
   * @return where it is to begin
   */
  public static Setup with(Generator.Builder builder) {
    return new Setup(Objects.requireNonNull(builder, "builder"));
  }

  /** Where a generator begins. */
  public static final class Setup {
    private static final long LAST_START = 1L << 62; // so that a step fits behind it

    /** What a table of a file may have that reaches beyond the process, or is for stores of other kinds. */
    private static final Map<String, String> OWN =
        Map.of(
            "worker_source", "store",
            "worker_url", "",
            "worker_cache", "",
            "segment.schema", "idgen",
            "segment.grant_log", "0",
            "witness", "");

    private final Generator.Builder builder;
    private long start;
    private ManualClock clock;
    private int sequence;

    private Setup(Generator.Builder builder) {
      this.builder = builder.copy();
      OWN.forEach(this.builder::set);
    }

    /**
     * The first number, of the kinds segment and business; of a serial, the first of each period. Without it, 1.
     *
     * @param start 1 to 2^62
     * @return this
     * @throws IllegalArgumentException if it is out of range
     */
    public Setup start(long start) {
      if (start < 1 || start > LAST_START) {
        throw new IllegalArgumentException("start is " + start + "; allowed: 1 to " + LAST_START);
      }
      this.start = start;
      return this;
    }

    /**
     * Where the clock stands, and the time of a snowflake's first id. Without it, {@link ManualClock#FIRST_MOMENT}, or
     * the layout's epoch if that is later.
     *
     * @param at the time
     * @return this
     */
    public Setup at(Instant at) {
      return clock(new ManualClock(at));
    }

    /**
     * A clock that others share.
     *
     * @param clock the clock
     * @return this
     */
    public Setup clock(ManualClock clock) {
      this.clock = Objects.requireNonNull(clock, "clock");
      return this;
    }

    /**
     * The sequence of a snowflake's first id. Those below are drawn and dropped.
     *
     * @param sequence 0 to what the layout holds in a tick
     * @return this
     */
    public Setup sequence(int sequence) {
      this.sequence = sequence;
      return this;
    }

    /**
     * Makes the generator.
     *
     * @return a generator that has its first reservation
     * @throws IllegalArgumentException for what is out of range, or does not apply to the kind
     * @throws IdgenException as for {@link Generator.Builder#build()}
     */
    public ScriptedGenerator build() {
      var own = clock != null ? clock : new ManualClock();
      if (sequence != 0) builder.set("sequence_start", "carry"); // a random one could not be told
      Generator made;
      try {
        made = buildWith(own);
      } catch (ConfigException e) {
        if (clock != null || e.status() != Status.LIFETIME) throw e;
        // The epoch is later than the first moment, if it can be built today: no clock stands before it.
        try (var today = buildWith(new ManualClock(Instant.now()))) {
          own = new ManualClock(Instant.ofEpochMilli(today.layout().info().epochUnixMs()));
        }
        made = buildWith(own);
      }
      try {
        begin(made);
      } catch (RuntimeException e) {
        made.close();
        throw e;
      }
      return new ScriptedGenerator(made, own);
    }

    private Generator buildWith(ManualClock own) {
      return builder.store(new FreshStore(Math.max(start, 1), own)).clock(own).build();
    }

    private void begin(Generator made) {
      var layout = made.layout().info();
      boolean isSnowflake = layout.tickMs() != 0;
      if (isSnowflake && start != 0) {
        throw new IllegalArgumentException(
            "start is for numbers; where a snowflake starts is told by at and sequence");
      }
      if (sequence == 0) return;
      if (!isSnowflake) {
        throw new IllegalArgumentException("sequence is for snowflakes; where numbers start is told by start");
      }
      if (sequence < 0 || Long.compareUnsigned(sequence, layout.idsPerTick()) >= 0) {
        throw new IllegalArgumentException(
            "sequence is " + sequence + "; allowed: 0 to " + Long.toUnsignedString(layout.idsPerTick() - 1)
                + ", with the layout " + layout.text());
      }
      made.nextBatch(sequence);
    }
  }

  /**
   * Its clock, which stands still until the test moves it.
   *
   * @return the clock
   */
  public ManualClock clock() {
    return clock;
  }

  /**
   * The real generator, which fails by itself alone: for whatever has no method here.
   *
   * @return the same one each time
   */
  public Generator get() {
    return generator;
  }

  /**
   * The next calls that draw ids fail, then all is as before. They throw the exception of the status, with the message
   * that it has in every language. {@link #tryNext()} is empty where that is retryable, as always. Nothing is drawn,
   * and nothing waits. Replaces what was told before.
   *
   * @param n how many calls, at least 1
   * @param status one of {@link dev.idgen.Status}
   * @throws IllegalArgumentException if {@code n} is below 1, or there is no such status
   */
  public void failNext(int n, int status) {
    if (n < 1) throw new IllegalArgumentException("failNext: n is " + n + "; allowed: 1 and above");
    tell(0, n, status);
  }

  /**
   * After that many more ids, each call that draws ids fails until {@link #recover()}. A {@link #fill} that needs more
   * fails halfway, and {@link IdgenException#written()} says how many it has stored. Only ids that a call has got
   * count. Otherwise as {@link #failNext}.
   *
   * @param ids how many ids are still drawn, at least 0
   * @param status one of {@link dev.idgen.Status}
   * @throws IllegalArgumentException if {@code ids} is negative, or there is no such status
   */
  public void failAfter(long ids, int status) {
    if (ids < 0) throw new IllegalArgumentException("failAfter: ids is " + ids + "; allowed: 0 and above");
    tell(ids, 0, status);
  }

  /** Ends what {@link #failNext} and {@link #failAfter} have begun. */
  public synchronized void recover() {
    status = 0;
  }

  private void tell(long newIdsBefore, int newCalls, int newStatus) {
    IdgenException.of(newStatus, 0); // refuses what is no status
    synchronized (this) {
      status = newStatus;
      idsBefore = newIdsBefore;
      calls = newCalls;
      tellings++;
    }
  }

  /** How many ids a call may draw, and with which status it fails after these; 0: it does not. */
  private record Part(int ids, int status, int telling) {}

  private synchronized Part take(int want) {
    if (status == 0) return new Part(want, 0, tellings);
    if (want <= idsBefore) {
      idsBefore -= want;
      return new Part(want, 0, tellings);
    }
    var part = new Part((int) idsBefore, status, tellings);
    idsBefore = 0;
    if (calls > 0 && --calls == 0) status = 0;
    return part;
  }

  /** Of what a call may draw, what it did not, unless something else was told since. */
  private synchronized void putBack(Part part, int ids) {
    if (part.telling() == tellings) idsBefore += ids;
  }

  private <T> T drawOne(Supplier<T> draw) {
    var part = take(1);
    if (part.status() != 0) throw IdgenException.of(part.status(), 0);
    return draw(part, draw);
  }

  /** What is refused has drawn nothing, and what fails halfway only a part. */
  private <T> T draw(Part part, Supplier<T> draw) {
    try {
      return draw.get();
    } catch (Throwable e) {
      putBack(part, part.ids() - (e instanceof IdgenException failure ? failure.written() : 0));
      throw e;
    }
  }

  @Override
  public long next() {
    return drawOne(generator::next);
  }

  @Override
  public String nextText() {
    return drawOne(generator::nextText);
  }

  /**
   * As {@link Generator#tryNext()}.
   *
   * @return an id, or empty
   * @throws IdgenException as it was told, if that is not retryable
   */
  public OptionalLong tryNext() {
    var part = take(1);
    if (part.status() == 0) {
      var id = draw(part, generator::tryNext);
      if (id.isEmpty()) putBack(part, 1);
      return id;
    }
    var exception = IdgenException.of(part.status(), 0);
    if (exception.retryable()) return OptionalLong.empty();
    throw exception;
  }

  @Override
  public long[] nextBatch(int count) {
    if (count < 0) return generator.nextBatch(count); // which refuses it
    var ids = new long[count];
    fill(ids, 0, count);
    return ids;
  }

  /**
   * As {@link Generator#fill(long[])}.
   *
   * @param ids where they are stored
   * @return how many: always the array's length
   * @throws IdgenException as it was told
   */
  public int fill(long[] ids) {
    return fill(ids, 0, ids.length);
  }

  /**
   * As {@link Generator#fill(long[], int, int)}.
   *
   * @param ids where they are stored
   * @param offset index of the first
   * @param length how many
   * @return how many: always {@code length}
   * @throws IndexOutOfBoundsException if the part does not lie in the array
   * @throws IdgenException as it was told; the first {@link IdgenException#written()} ids are then real
   */
  public int fill(long[] ids, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, ids.length);
    var part = take(length);
    draw(part, () -> generator.fill(ids, offset, part.ids()));
    if (part.status() != 0) throw IdgenException.of(part.status(), part.ids());
    return length;
  }

  /**
   * As {@link Generator#nextFor(long)}.
   *
   * @param owner an integer: the owner that its decimal text is
   * @return the id
   * @throws IdgenException as it was told
   */
  public long nextFor(long owner) {
    return drawOne(() -> generator.nextFor(owner));
  }

  /**
   * As {@link Generator#nextFor(String)}.
   *
   * @param owner text: the owner that its bytes in UTF-8 are
   * @return the id
   * @throws IdgenException as it was told
   */
  public long nextFor(String owner) {
    return drawOne(() -> generator.nextFor(owner));
  }

  /**
   * As {@link Generator#nextFor(byte[])}.
   *
   * @param owner at least one byte
   * @return the id
   * @throws IdgenException as it was told
   */
  public long nextFor(byte[] owner) {
    return drawOne(() -> generator.nextFor(owner));
  }

  /**
   * As {@link Generator#decode(long)}.
   *
   * @param id an id of this generator
   * @return its fields
   */
  public IdParts decode(long id) {
    return generator.decode(id);
  }

  @Override
  public void close() {
    generator.close();
  }
}
