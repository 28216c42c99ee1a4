package dev.idgen;

import java.util.Arrays;
import java.util.List;

/** What tests find out about ids. A test that fails with the word DUPLICATE is never run again. */
final class Ids {
  private Ids() {}

  /** None comes twice, neither in one array nor in two. */
  static void assertDistinct(List<long[]> drawn) {
    long[] all = drawn.stream().flatMapToLong(Arrays::stream).sorted().toArray();
    for (int index = 1; index < all.length; index++) {
      if (all[index] == all[index - 1]) throw new AssertionError("DUPLICATE: " + all[index] + " was issued twice");
    }
  }

  static void assertRising(long[] ids) {
    for (int index = 1; index < ids.length; index++) {
      if (ids[index] <= ids[index - 1]) {
        throw new AssertionError("DUPLICATE or out of order: " + ids[index] + " came after " + ids[index - 1]);
      }
    }
  }
}
