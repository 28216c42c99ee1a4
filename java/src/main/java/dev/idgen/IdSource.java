package dev.idgen;

/**
 * What ids are drawn from: a {@link Generator}, a {@link LazyGenerator}, or a generator of {@code dev.idgen.testing}. A
 * type for parameters and fields, so that a program can be given any of these. It has what most programs use; ids with
 * an owner are drawn from a {@link Generator}. Any number of threads may call all methods at the same time.
 */
public interface IdSource extends AutoCloseable {
  /**
   * {@return one id} May wait.
   *
   * @throws IdgenException as for {@link Generator#next()}
   */
  long next();

  /**
   * {@return one id as text} May wait.
   *
   * @throws IdgenException as for {@link Generator#nextText()}
   */
  String nextText();

  /**
   * {@return some ids in a new array} May wait.
   *
   * @param count how many
   * @throws IllegalArgumentException if {@code count} is negative
   * @throws IdgenException as for {@link Generator#nextBatch}
   */
  long[] nextBatch(int count);

  /** Gives unused ids back, for which this may wait. Never throws. Closing again does nothing. */
  @Override
  void close();
}
