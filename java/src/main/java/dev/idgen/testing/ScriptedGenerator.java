package dev.idgen.testing;

import dev.idgen.ConfigException;
import dev.idgen.Generator;
import dev.idgen.IdParts;
import dev.idgen.IdSource;
import dev.idgen.IdgenException;
import dev.idgen.Status;
import dev.idgen.internal.Kit;
import java.time.Instant;
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
    private final Generator.Builder builder;
    private long start = Long.MIN_VALUE; // which is none
    private ManualClock clock;
    private int sequence;

    private Setup(Generator.Builder builder) {
      this.builder = builder.copy();
    }

    /**
     * The first number, of the kinds segment and business; of a serial, the first of each period. Without it, 1.
     *
     * @param start 1 to 2^62
     * @return this
     */
    public Setup start(long start) {
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
      var own = new ManualClock[] {clock};
      return checked(
          () -> {
            var made =
                Kit.kit.build(
                    builder,
                    start,
                    sequence,
                    firstUnixMs -> {
                      if (clock == null) own[0] = new ManualClock(Instant.ofEpochMilli(firstUnixMs));
                      return own[0];
                    });
            return new ScriptedGenerator(made, own[0]);
          });
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
   * The generator that it draws from, which fails as it is told: for whatever has no method here.
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
    checked(
        () -> {
          Kit.kit.failNext(generator, n, status);
          return null;
        });
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
    checked(
        () -> {
          Kit.kit.failAfter(generator, ids, status);
          return null;
        });
  }

  /** Ends what {@link #failNext} and {@link #failAfter} have begun. */
  public void recover() {
    Kit.kit.recover(generator);
  }

  /** The kit refuses as Java does. */
  private static <T> T checked(Supplier<T> call) {
    try {
      return call.get();
    } catch (ConfigException e) {
      if (e.status() != Status.ARGUMENT) throw e;
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  @Override
  public long next() {
    return generator.next();
  }

  @Override
  public String nextText() {
    return generator.nextText();
  }

  /**
   * As {@link Generator#tryNext()}.
   *
   * @return an id, or empty
   * @throws IdgenException as it was told, if that is not retryable
   */
  public OptionalLong tryNext() {
    try {
      return generator.tryNext();
    } catch (IdgenException e) {
      if (e.retryable()) return OptionalLong.empty();
      throw e;
    }
  }

  @Override
  public long[] nextBatch(int count) {
    return generator.nextBatch(count);
  }

  /**
   * As {@link Generator#fill(long[])}.
   *
   * @param ids where they are stored
   * @return how many: always the array's length
   * @throws IdgenException as it was told
   */
  public int fill(long[] ids) {
    return generator.fill(ids);
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
    return generator.fill(ids, offset, length);
  }

  /**
   * As {@link Generator#nextFor(long)}.
   *
   * @param owner an integer: the owner that its decimal text is
   * @return the id
   * @throws IdgenException as it was told
   */
  public long nextFor(long owner) {
    return generator.nextFor(owner);
  }

  /**
   * As {@link Generator#nextFor(String)}.
   *
   * @param owner text: the owner that its bytes in UTF-8 are
   * @return the id
   * @throws IdgenException as it was told
   */
  public long nextFor(String owner) {
    return generator.nextFor(owner);
  }

  /**
   * As {@link Generator#nextFor(byte[])}.
   *
   * @param owner at least one byte
   * @return the id
   * @throws IdgenException as it was told
   */
  public long nextFor(byte[] owner) {
    return generator.nextFor(owner);
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
