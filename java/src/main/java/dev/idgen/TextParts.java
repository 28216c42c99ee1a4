package dev.idgen;

import java.time.LocalDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * A text that a {@link TextPattern} has read.
 *
 * @param id the id that was written
 * @param number as it stands in the text: the id itself, but for serials
 * @param unit the shortest of the date, from {@link ChronoUnit#YEARS} to {@link ChronoUnit#SECONDS}; empty if the
 *     pattern has no date
 * @param localTime when that unit began, by the clocks of the pattern's zone; empty if the pattern has no date
 */
public record TextParts(WideId id, WideId number, Optional<ChronoUnit> unit, Optional<LocalDateTime> localTime) {
  /** Length of the array that the native fills. */
  static final int NUMBERS = 7 + 2 * WideId.LONGS;

  /** From the members of idgen_text_parts_t, in their order. */
  static TextParts of(long[] n) {
    var unit = unitOf(n[0]);
    return new TextParts(
        WideId.of(n, 7),
        WideId.of(n, 7 + WideId.LONGS),
        unit,
        unit.map(any -> LocalDateTime.of((int) n[1], (int) n[2], (int) n[3], (int) n[4], (int) n[5], (int) n[6])));
  }

  /** By IDGEN_UNIT_*. */
  private static Optional<ChronoUnit> unitOf(long number) {
    return switch ((int) number) {
      case 0 -> Optional.empty();
      case 1 -> Optional.of(ChronoUnit.YEARS);
      case 2 -> Optional.of(ChronoUnit.MONTHS);
      case 3 -> Optional.of(ChronoUnit.DAYS);
      case 4 -> Optional.of(ChronoUnit.HOURS);
      case 5 -> Optional.of(ChronoUnit.MINUTES);
      case 6 -> Optional.of(ChronoUnit.SECONDS);
      default -> throw new IllegalStateException("unit " + number + " is not one of 0 to 6");
    };
  }
}
