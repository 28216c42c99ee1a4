package dev.idgen;

import java.util.Arrays;

/**
 * Many owners in two arrays, the form that the natives take: the bytes of all owners in one array, and the end of each
 * owner in the other. JNI reads the two arrays at once; it would need a call for each owner that has its own array.
 */
record PackedOwners(byte[] bytes, int[] ends) {
  static PackedOwners of(byte[] owner) {
    return new PackedOwners(owner, new int[] {owner.length});
  }

  /** Checks every owner that Java can check, before an id is drawn for any. */
  static PackedOwners of(String[] owners) {
    var packer = new Packer(owners.length);
    for (String owner : owners) packer.add(Text.owner(owner));
    return packer.packed();
  }

  static PackedOwners of(byte[][] owners) {
    var packer = new Packer(owners.length);
    for (byte[] owner : owners) packer.add(owner);
    return packer.packed();
  }

  /** One owner for each id, or the caller has made a mistake. */
  static void checkOneForEach(int owners, int ids) {
    if (owners != ids) {
      throw new IllegalArgumentException(owners + " owners for " + ids + " ids; give one owner for each");
    }
  }

  private static final class Packer {
    private static final int MOST = Integer.MAX_VALUE - 8; // that every JVM can have in an array
    private final int[] ends;
    private byte[] bytes;
    private int count;
    private int size;

    Packer(int owners) {
      ends = new int[owners];
      bytes = new byte[(int) Math.min(16L * owners, MOST)];
    }

    void add(byte[] owner) {
      if (owner.length > MOST - size) {
        throw new IllegalArgumentException("these owners have more than 2 GiB together; draw for them in parts");
      }
      if (owner.length > bytes.length - size) {
        bytes = Arrays.copyOf(bytes, (int) Math.min(MOST, Math.max(2L * bytes.length, (long) size + owner.length)));
      }
      System.arraycopy(owner, 0, bytes, size, owner.length);
      size += owner.length;
      ends[count++] = size;
    }

    PackedOwners packed() {
      return new PackedOwners(bytes, ends);
    }
  }
}
