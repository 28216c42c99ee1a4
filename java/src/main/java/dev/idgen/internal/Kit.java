package dev.idgen.internal;

import dev.idgen.Generator;
import java.time.InstantSource;
import java.util.function.LongFunction;

/** What the package {@code dev.idgen.testing} needs of {@code dev.idgen}, which sets it. */
public abstract class Kit {
  /** Set once there is a builder. */
  public static volatile Kit kit;

  /** {@code idgen_test_begin}. The clock is made from the Unix ms where it stands if nobody says another time. */
  public abstract Generator build(
      Generator.Builder builder, long start, long sequence, LongFunction<InstantSource> clock);

  /** {@code idgen_test_fail_next}. */
  public abstract void failNext(Generator generator, long calls, int status);

  /** {@code idgen_test_fail_after}. */
  public abstract void failAfter(Generator generator, long ids, int status);

  /** {@code idgen_test_recover}. */
  public abstract void recover(Generator generator);
}
