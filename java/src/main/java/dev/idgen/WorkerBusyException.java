package dev.idgen;

import java.io.Serial;

/** Another live generator owns this worker; the message says which process (status {@link Status#WORKER_BUSY}). */
public final class WorkerBusyException extends StateException {
  @Serial private static final long serialVersionUID = 1;

  WorkerBusyException(Failure failure) {
    super(failure);
  }
}
