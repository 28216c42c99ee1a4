package dev.idgen;

import java.io.Serial;

/** The generator cannot issue ids in its present state (statuses 20 to 39). */
public class StateException extends IdgenException {
  @Serial private static final long serialVersionUID = 1;

  StateException(Failure failure) {
    super(failure);
  }
}
