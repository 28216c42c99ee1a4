package dev.idgen;

import java.io.Serial;

/** The generator was closed, perhaps while this call was waiting (status {@link Status#CLOSED}). */
public final class ClosedException extends StateException {
  @Serial private static final long serialVersionUID = 1;

  ClosedException(Failure failure) {
    super(failure);
  }
}
