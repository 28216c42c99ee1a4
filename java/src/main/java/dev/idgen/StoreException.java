package dev.idgen;

import java.io.Serial;

/** The store could not be used; {@link #status()} says why (statuses 60 to 79). */
public final class StoreException extends IdgenException {
  @Serial private static final long serialVersionUID = 1;

  StoreException(Failure failure) {
    super(failure);
  }
}
