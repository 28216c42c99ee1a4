package dev.idgen;

import java.io.Serial;
import java.time.Duration;

/**
 * A call that failed. The message says what was asked, what was found, what is allowed and what to do; it is the same
 * text in every language. Subclasses stand for families of statuses, and for the states that programs handle
 * separately; {@link #status()} distinguishes the others.
 */
public class IdgenException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  /** The status code. */
  private final int status;

  /** The status as a word. */
  private final String statusName;

  /** Whether trying again makes sense. */
  private final boolean retryable;

  /** When a retry can first succeed. */
  private final Duration retryAfter;

  /** Ids stored before a fill failed. */
  private int written;

  /** From a store: the caller may hold what the store waits for, so it must not wait any longer. */
  private transient boolean endsWaits;

  /** What the library reported. */
  record Failure(int status, String statusName, String message, boolean retryable, long retryAfterNs, int written) {}

  IdgenException(Failure failure) {
    super(failure.message());
    this.status = failure.status();
    this.statusName = failure.statusName();
    this.retryable = failure.retryable();
    this.retryAfter = Duration.ofNanos(failure.retryAfterNs());
    this.written = failure.written();
  }

  /**
   * An exception for a {@link Store} of the program's own to throw.
   *
   * @param status a store status of {@link Status}, such as {@link Status#TAG_UNKNOWN}, or the program's own, from
   *     {@link Status#HOST} on
   * @param message what was asked, what was found, what is allowed, what to do
   * @return an exception of the status's class
   */
  public static IdgenException of(int status, String message) {
    return Errors.of(status, message);
  }

  /**
   * An exception as the library would throw it, with the message that the status has in every language: for tests, and
   * for whatever else stands in for a generator.
   *
   * @param status one of {@link Status}
   * @param written as {@link #written()} has it
   * @return an exception of the status's class
   * @throws IllegalArgumentException if there is no such status, or {@code written} is negative
   */
  public static IdgenException of(int status, int written) {
    if (written < 0) throw new IllegalArgumentException("written is " + written + "; allowed: 0 and above");
    NativeLoader.require();
    if (status <= 0 || !isKnown(status)) {
      throw new IllegalArgumentException(status + " is no status that a call can fail with; use one of Status");
    }
    return Errors.of(status, Text.string(IdgenJNI.idgen_status_message(status))).after(written);
  }

  private static boolean isKnown(int status) {
    for (long index = 0; index < IdgenJNI.idgen_status_count(); index++) {
      if (IdgenJNI.idgen_status_at(index) == status) return true;
    }
    return status >= Status.HOST;
  }

  /** The same failure, of a fill that had stored ids before. */
  IdgenException after(int stored) {
    written += stored;
    return this;
  }

  IdgenException thatEndsWaits() {
    endsWaits = true;
    return this;
  }

  boolean endsWaits() {
    return endsWaits;
  }

  /** {@return one of {@link Status}: a number that never changes and is the same in every language} */
  public int status() {
    return status;
  }

  /** {@return the status as a word: {@code "CLOCK_BACK"} for {@link Status#CLOCK_BACK}} */
  public String statusName() {
    return statusName;
  }

  /** {@return whether the same call can succeed later without anyone changing anything} */
  public boolean retryable() {
    return retryable;
  }

  /** {@return when a retry can first succeed; zero if that is unknown, or if retrying cannot help} */
  public Duration retryAfter() {
    return retryAfter;
  }

  /**
   * {@return how many ids a failed {@link Generator#fill(long[], int, int) fill}, {@code fillFor} or {@code
   * fillForEach} had stored from the offset on; 0 for all other calls. They are real, and nobody else will ever get
   * them}
   */
  public int written() {
    return written;
  }
}
