package dev.idgen;

import java.io.Serial;

/** The layout has no ids left: its time or its segment field is used up (status {@link Status#EXHAUSTED}). */
public final class ExhaustedException extends StateException {
  @Serial private static final long serialVersionUID = 1;

  ExhaustedException(Failure failure) {
    super(failure);
  }
}
