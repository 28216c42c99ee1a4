package dev.idgen;

import java.io.Serial;

/**
 * Another version of a table of routes is in force than the caller expected (status {@link Status#STALE}): somebody
 * else was faster. Start again from the version that is in force.
 */
public final class StaleException extends StateException {
  @Serial private static final long serialVersionUID = 1;

  StaleException(Failure failure) {
    super(failure);
  }
}
