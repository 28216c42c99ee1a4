package dev.idgen;

/**
 * A store of the program's own, for {@link Generator.Builder#store(Store)} with {@code kind("segment")}. For
 * databases there is {@link SqlStore}. With workers too it is a {@link WorkerStore}.
 *
 * <p>Each call is one atomic, durable step, and returns when its commit is acknowledged, not before. It may come from
 * any thread, the library's own included, and from several at once, but never from the fast path. It must not call the
 * generator. The library sets no time limit; the store's own connections should have one.
 *
 * <p>An exception means that the outcome is unknown: the numbers in question are then never issued by anyone. An {@link
 * IdgenException} keeps its status, and {@link IdgenException#of} makes one. Any other exception becomes {@link
 * Status#HOST}, which is retried.
 */
public interface Store {
  /**
   * Grants the next numbers of a tag: {@code max_id += count}.
   *
   * @param namespace the property of that name
   * @param tag the property of that name
   * @param count how many, at least 1
   * @return the first number of the grant, the old {@code max_id + 1}
   * @throws Exception if nothing was granted, or if the outcome is unknown
   */
  long segmentTake(String namespace, String tag, long count) throws Exception;

  /**
   * Grants the next numbers of a tag that are above a number: {@code max_id = max(max_id, above) + count}. The default
   * does not look at that number: then there are no serials with a date ({@code kind("serial")}) from this store.
   *
   * @param namespace the property of that name
   * @param tag the property of that name
   * @param count how many, at least 1
   * @param above at least 1
   * @return the first number of the grant
   * @throws Exception if nothing was granted, or if the outcome is unknown
   */
  default long segmentTakeAbove(String namespace, String tag, long count, long above) throws Exception {
    return segmentTake(namespace, tag, count);
  }

  /**
   * Takes back what a closed generator has not used: if {@code max_id == last}, {@code max_id = last - unused}.
   * Otherwise it must do nothing, because another process has drawn since. The default does nothing: these numbers are
   * then never issued.
   *
   * @param namespace as it was granted
   * @param tag as it was granted
   * @param last the last number of the grant
   * @param unused how many of its end were not used
   * @throws Exception if it could not be done
   */
  default void segmentReturn(String namespace, String tag, long last, long unused) throws Exception {}
}
