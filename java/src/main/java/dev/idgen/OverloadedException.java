package dev.idgen;

import java.io.Serial;

/** The call waited for {@code wait_max} for the next tick of the clock (status {@link Status#OVERLOADED}). */
public final class OverloadedException extends StateException {
  @Serial private static final long serialVersionUID = 1;

  OverloadedException(Failure failure) {
    super(failure);
  }
}
