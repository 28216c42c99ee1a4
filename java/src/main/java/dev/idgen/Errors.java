package dev.idgen;

/** The exception for a status: one class for each family, and for each state that programs handle separately. */
final class Errors {
  private Errors() {}

  /** Called by the natives. The message is the library's own. */
  static IdgenException of(int status, byte[] message, long retryAfterNs, int written, long cause) {
    String name = Text.string(IdgenJNI.idgen_status_name(status));
    boolean retryable = IdgenJNI.idgen_status_is_retryable(status) != 0;
    var failure =
        of(new IdgenException.Failure(status, name, Text.string(message), retryable, retryAfterNs, written));
    if (cause != 0) failure.initCause(HostSink.causeOf(cause));
    return failure;
  }

  /** For errors found on the Java side. */
  static IdgenException of(int status, String message) {
    NativeLoader.require();
    String name = Text.string(IdgenJNI.idgen_status_name(status));
    boolean retryable = IdgenJNI.idgen_status_is_retryable(status) != 0;
    return of(new IdgenException.Failure(status, name, message, retryable, 0, 0));
  }

  /** The same failure, for another thread. */
  static IdgenException again(IdgenException e) {
    var failure =
        new IdgenException.Failure(
            e.status(), e.statusName(), e.getMessage(), e.retryable(), e.retryAfter().toNanos(), e.written());
    var again = of(failure);
    if (e.getCause() != null) again.initCause(e.getCause());
    return again;
  }

  private static IdgenException of(IdgenException.Failure failure) {
    int status = failure.status();
    switch (status) {
      case Status.CLOSED:
        return new ClosedException(failure);
      case Status.FORKED:
        return new ForkedException(failure);
      case Status.WORKER_BUSY:
        return new WorkerBusyException(failure);
      case Status.EXHAUSTED:
        return new ExhaustedException(failure);
      case Status.CANCELLED:
        return new CancelledException(failure);
      case Status.OVERLOADED:
        return new OverloadedException(failure);
      case Status.STALE:
        return new StaleException(failure);
      default:
        break;
    }
    // The families have fixed ranges, so a status added by a later library gets the class of its family.
    if (status >= 1 && status <= 19) return new ConfigException(failure);
    if (status >= 20 && status <= 39) return new StateException(failure);
    if (status >= 40 && status <= 59) return new ClockException(failure);
    if (status >= 60 && status <= 79) return new StoreException(failure);
    return new IdgenException(failure);
  }
}
