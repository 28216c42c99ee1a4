package dev.idgen;

import java.util.Collection;
import java.util.function.Supplier;

/** What the library holds for the program's own keys. */
final class KeySink {
  private final Supplier<? extends Collection<IdKey>> keys;

  KeySink(Supplier<? extends Collection<IdKey>> keys) {
    this.keys = keys;
  }

  /**
   * Called by the natives, on the thread that makes or reloads a cipher: what this throws is what that call throws. A
   * long[] with the version and 0 or 1 (retired) of each key, and then a byte[] for each.
   */
  Object[] read() {
    var all = keys.get().toArray(IdKey[]::new);
    var numbers = new long[2 * all.length];
    var out = new Object[1 + all.length];
    out[0] = numbers;
    for (int i = 0; i < all.length; i++) {
      numbers[2 * i] = all[i].version() & 0xFFFFFFFFL;
      numbers[2 * i + 1] = all[i].retired() ? 1 : 0;
      out[1 + i] = all[i].key();
    }
    return out;
  }
}
