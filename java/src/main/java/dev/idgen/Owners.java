package dev.idgen;

import java.util.Arrays;

/**
 * Owners as the natives take many of them: all their bytes in one array, and where each ends in another. Two arrays
 * are read at once, where an array for each owner would be a call each.
 */
record Owners(byte[] bytes, int[] ends) {
  static Owners of(byte[] owner) {
    return new Owners(owner, new int[] {owner.length});
  }

  /** Checks every owner that Java can check, before an id is drawn for any. */
  static Owners of(String[] owners) {
    var packer = new Packer(owners.length);
    for (String owner : owners) packer.add(Text.owner(owner));
    return packer.packed();
  }

  static Owners of(byte[][] owners) {
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

    Owners packed() {
      return new Owners(bytes, ends);
    }
  }
}
