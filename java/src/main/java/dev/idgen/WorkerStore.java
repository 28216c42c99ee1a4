package dev.idgen;

import java.util.List;

/**
 * A store of the program's own that keeps a row for each worker, with a lease: for {@code kind("snowflake")}. All else
 * is as for {@link Store}.
 *
 * <p>The library decides, by the rules of its own stores, what a row becomes. The store only reads rows, and changes
 * one if it is still what was read: so no worker's time is granted twice. Its clock is one that all clients share.
 */
public interface WorkerStore extends Store {
  /**
   * The format of a namespace. If it has none and {@code format} is not empty, it gets that one first, unless somebody
   * else is faster.
   *
   * @param namespace the property of that name
   * @param format what it is to be; may be empty
   * @return what it is; empty if the namespace has none
   * @throws Exception if it could not be read, or if the outcome is unknown
   */
  String namespaceFormat(String namespace, String format) throws Exception;

  /**
   * A worker's row, with the store's clock of the same moment.
   *
   * @param namespace the property of that name
   * @param worker the number of all node fields together
   * @return the row; one with the fence 0 if there is none
   * @throws Exception if it could not be read
   */
  WorkerRow workerRead(String namespace, long worker) throws Exception;

  /**
   * All workers of a namespace that have a row.
   *
   * @param namespace the property of that name
   * @return a row for each
   * @throws Exception if they could not be read
   */
  List<WorkerRow> workerList(String namespace) throws Exception;

  /**
   * Changes a worker's row if it is as {@code change} says that it was seen. Compare and set: one step.
   *
   * @param namespace the property of that name
   * @param change what was seen, and what the row becomes
   * @return whether it was changed
   * @throws Exception if it was not, or if the outcome is unknown
   */
  boolean workerReplace(String namespace, WorkerChange change) throws Exception;
}
