package dev.idgen.bench;

/** The floors; see floor.c. */
final class Floor {
  static {
    System.load(System.getProperty("idgen.bench.floor"));
  }

  private Floor() {}

  /** A JNI call that does nothing. */
  static native long empty(long number);

  /** A generator of the library, as C has it; 0 if it cannot be made. */
  static native long open(boolean segment);

  /** Ids drawn in a loop in C; returns their exclusive or. */
  static native long draw(long generator, int count);

  /** Standard ids made one by one in a loop in C; returns their exclusive or. */
  static native long drawStandard(int standard, int count);
}
