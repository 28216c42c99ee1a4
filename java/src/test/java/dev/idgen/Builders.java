package dev.idgen;

import java.nio.file.Path;

/** The generators that most tests draw from, in a store of the test's own folder. */
final class Builders {
  private Builders() {}

  private static Generator.Builder in(Path folder) {
    return Generator.builder().store("sqlite:ids.db").directory(folder).storeCreate(true);
  }

  static Generator.Builder segment(Path folder) {
    return in(folder).kind("segment").tag("orders");
  }

  static Generator.Builder business(Path folder) {
    return in(folder).kind("business").tag("orders");
  }

  static Generator.Builder snowflake(Path folder) {
    return in(folder).worker(7);
  }
}
