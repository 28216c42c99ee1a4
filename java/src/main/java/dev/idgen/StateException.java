package dev.idgen;

import java.io.Serial;

/** A generator that cannot issue in the state it is in (statuses 20 to 39). */
public class StateException extends IdgenException {
  @Serial private static final long serialVersionUID = 1;

  StateException(Failure failure) {
    super(failure);
  }
}
