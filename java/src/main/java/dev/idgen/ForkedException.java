package dev.idgen;

import java.io.Serial;

/** This process is a forked child, which cannot reacquire what its parent holds (status {@link Status#FORKED}). */
public final class ForkedException extends StateException {
  @Serial private static final long serialVersionUID = 1;

  ForkedException(Failure failure) {
    super(failure);
  }
}
