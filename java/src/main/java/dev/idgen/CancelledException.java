package dev.idgen;

import java.io.Serial;

/** The thread was interrupted while it waited. Its interrupt status is still set (status {@link Status#CANCELLED}). */
public final class CancelledException extends StateException {
  @Serial private static final long serialVersionUID = 1;

  CancelledException(Failure failure) {
    super(failure);
  }
}
