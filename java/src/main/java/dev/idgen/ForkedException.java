package dev.idgen;

import java.io.Serial;

/** This process is a forked child, and what its parent holds cannot be reacquired (status {@link Status#FORKED}). */
public final class ForkedException extends StateException {
  @Serial private static final long serialVersionUID = 1;

  ForkedException(Failure failure) {
    super(failure);
  }
}
