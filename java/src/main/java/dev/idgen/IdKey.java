package dev.idgen;

import java.util.Objects;

/**
 * A key version of the program's own, for {@link Generator.Builder#keys}.
 *
 * @param version from 1 on, and what the layout's version field holds
 * @param key 16 to 64 bytes; not copied
 * @param retired true: it reveals, and hides no more
 */
public record IdKey(int version, byte[] key, boolean retired) {
  /**
   * A key version; that there is a key is checked here, its length where it is used.
   *
   * @param version from 1 on
   * @param key 16 to 64 bytes; not copied
   * @param retired true: it reveals, and hides no more
   */
  public IdKey {
    Objects.requireNonNull(key, "key");
  }

  /**
   * A key version that hides.
   *
   * @param version from 1 on
   * @param key 16 to 64 bytes; not copied
   */
  public IdKey(int version, byte[] key) {
    this(version, key, false);
  }

  /** The version alone: a key is never shown. */
  @Override
  public String toString() {
    return "IdKey[version=" + version + (retired ? ", retired]" : "]");
  }
}
