package dev.idgen;

import java.util.Objects;
import java.util.stream.LongStream;

/**
 * A run of ids that the program counts off by itself: {@code first}, {@code first + stride}, ... {@code count} of them.
 * They belong to the caller; those it does not use are lost.
 *
 * @param first the lowest id
 * @param count how many there are, at least 1
 * @param stride the distance from one to the next: 1 if the sequence is the layout's lowest field
 */
public record Block(long first, long count, long stride) {
  /**
   * One id of the run.
   *
   * @param index 0 for the first
   * @return {@code first + index * stride}
   * @throws IndexOutOfBoundsException unless {@code 0 <= index < count}
   */
  public long get(long index) {
    return first + Objects.checkIndex(index, count) * stride;
  }

  /** {@return all {@code count} ids of the run, in ascending order} */
  public LongStream ids() {
    return LongStream.range(0, count).map(index -> first + index * stride);
  }
}
