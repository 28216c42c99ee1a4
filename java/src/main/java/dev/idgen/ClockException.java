package dev.idgen;

import java.io.Serial;

/** The clock is behind the ids already issued, or before the layout's epoch (statuses 40 to 59). */
public final class ClockException extends IdgenException {
  @Serial private static final long serialVersionUID = 1;

  ClockException(Failure failure) {
    super(failure);
  }
}
