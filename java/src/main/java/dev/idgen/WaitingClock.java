package dev.idgen;

import java.time.Duration;
import java.time.InstantSource;

/** A clock of the program's own that says how to wait for it: for {@link Generator.Builder#clock}. */
public interface WaitingClock extends InstantSource {
  /**
   * Waits for the clock to move on by about this time. Called from any thread, several at once. It must not call the
   * generator.
   *
   * @param time above zero
   */
  void sleep(Duration time);
}
