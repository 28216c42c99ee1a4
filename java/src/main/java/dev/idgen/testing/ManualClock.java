package dev.idgen.testing;

import dev.idgen.WaitingClock;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A clock that stands still until it is told to move. Any number of threads, generators and other users of a {@link
 * Clock} may share it. A generator that has to wait for this clock moves it by the time that it would have waited, so
 * no wait takes real time.
 */
public final class ManualClock extends Clock implements WaitingClock {
  /** Where a clock stands that nobody has told another time, unless the layout begins later: 2026-01-01 00:00 UTC. */
  public static final Instant FIRST_MOMENT = Instant.parse("2026-01-01T00:00:00Z");

  private final AtomicReference<Instant> now;
  private final ZoneId zone;

  /** A clock that stands at {@link #FIRST_MOMENT}. */
  public ManualClock() {
    this(FIRST_MOMENT);
  }

  /**
   * A clock that stands at a time.
   *
   * @param at the time
   */
  public ManualClock(Instant at) {
    this(new AtomicReference<>(Objects.requireNonNull(at, "at")), ZoneOffset.UTC);
  }

  private ManualClock(AtomicReference<Instant> now, ZoneId zone) {
    this.now = now;
    this.zone = zone;
  }

  /** Where it stands. */
  @Override
  public Instant instant() {
    return now.get();
  }

  @Override
  public long millis() {
    return instant().toEpochMilli();
  }

  @Override
  public ZoneId getZone() {
    return zone;
  }

  /** The same clock, in another zone: what moves one moves both. */
  @Override
  public ManualClock withZone(ZoneId zone) {
    return new ManualClock(now, Objects.requireNonNull(zone, "zone"));
  }

  /**
   * Sets it, forward or back.
   *
   * @param at the time
   */
  public void set(Instant at) {
    now.set(Objects.requireNonNull(at, "at"));
  }

  /**
   * Moves it forward.
   *
   * @param by how far
   * @throws IllegalArgumentException if that is negative: see {@link #setBack}
   */
  public void advance(Duration by) {
    if (by.isNegative()) throw new IllegalArgumentException("advance: " + by + " is negative; use setBack");
    now.updateAndGet(at -> at.plus(by));
  }

  /**
   * Moves it back.
   *
   * @param by how far
   * @throws IllegalArgumentException if that is negative: see {@link #advance}
   */
  public void setBack(Duration by) {
    if (by.isNegative()) throw new IllegalArgumentException("setBack: " + by + " is negative; use advance");
    now.updateAndGet(at -> at.minus(by));
  }

  /** Called by generators, in place of waiting: moves it forward. */
  @Override
  public void sleep(Duration time) {
    advance(time);
  }

  @Override
  public String toString() {
    return "ManualClock[" + instant() + "]";
  }
}
