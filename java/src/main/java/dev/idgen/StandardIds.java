package dev.idgen;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.UUID;

/**
 * Ids in published forms, made without a generator, a worker or a store. Random bits take their place, drawn from the
 * kernel when the process starts and again after {@link Idgen#reset()}. So nothing reserves these ids: that two
 * processes make the same one is not impossible, only less likely than anything else that can fail.
 *
 * <pre>{@code
 * UUID id = StandardIds.uuid7();
 * String text = StandardIds.ulid();
 * }</pre>
 *
 * <p>UUIDs of version 7, ULIDs and ObjectIds rise within a process, whatever thread makes them. If the clock is set
 * back by up to 10 s, or more of them are made than their counter has room for (2^19 per ms, 2^23 per second), the time
 * in them is ahead of the clock's. If it is set back by more, they start over at its time. All forms are big-endian:
 * the bytes of one sort like its texts.
 *
 * <p>Any number of threads may call any method at the same time. None waits. Calls that make ids throw a {@link
 * ConfigException} (status {@link Status#UNSUPPORTED}) on a kernel that cannot tell a forked child, Linux before 4.14.
 */
public final class StandardIds {
  /** How many UUIDs are taken from the library at once: their numbers stay in the processor's cache. */
  private static final int CHUNK = 1024;

  private StandardIds() {}

  /**
   * A random UUID. Never waits.
   *
   * @return a UUID of version 4
   * @throws ConfigException on a kernel that is too old
   */
  public static UUID uuid4() {
    return uuid(Standard.UUID4);
  }

  /**
   * A UUID that begins with the time, so that they sort by it. Within a process they rise. {@link UUID#compareTo} sorts
   * them too: until the year 6429, the bit that it takes for a sign is clear. Never waits.
   *
   * @return a UUID of version 7
   * @throws ConfigException on a kernel that is too old
   */
  public static UUID uuid7() {
    return uuid(Standard.UUID7);
  }

  /**
   * Two calls, one for each half, are the cheapest that is right everywhere. Measured in ns beyond the library's own
   * work: a new long[2] for both halves 34, one that each thread keeps 20, two calls 16, a direct buffer whose
   * address is passed 9. But each thread would have such a buffer, virtual ones too, and the object that holds it with
   * its address would keep this class's loader alive in every thread of a pool.
   *
   * <p>The library keeps the high half for the thread. Should another virtual thread have run on it between the calls,
   * the low half, which is random, tells that the high half is not its own.
   */
  private static UUID uuid(Standard standard) {
    NativeLoader.require();
    while (true) {
      long low = IdgenJNI.standardUuidLow(standard.ordinal());
      long high = IdgenJNI.standardUuidHigh(low);
      if (high != 0) return new UUID(high, low); // else lost, and the next is as good
    }
  }

  /**
   * Fills an array with UUIDs of version 4. Never waits. Faster than one by one.
   *
   * @param ids where they are stored
   * @throws ConfigException on a kernel that is too old
   */
  public static void fillUuid4(UUID[] ids) {
    fill(Standard.UUID4, ids);
  }

  /**
   * Fills an array with UUIDs of version 7, rising. Never waits. Faster than one by one.
   *
   * @param ids where they are stored
   * @throws ConfigException on a kernel that is too old
   */
  public static void fillUuid7(UUID[] ids) {
    fill(Standard.UUID7, ids);
  }

  private static void fill(Standard standard, UUID[] ids) {
    NativeLoader.require();
    var halves = new long[2 * Math.min(CHUNK, ids.length)];
    for (int done = 0; done < ids.length; ) {
      int count = Math.min(CHUNK, ids.length - done);
      IdgenJNI.standardUuids(standard.ordinal(), halves, count);
      for (int index = 0; index < count; index++) {
        ids[done + index] = new UUID(halves[2 * index], halves[2 * index + 1]);
      }
      done += count;
    }
  }

  /**
   * One id as bytes. Never waits.
   *
   * @param standard what to make: any but {@link Standard#UUID}
   * @return {@link Standard#bytes()} bytes
   * @throws ConfigException for {@link Standard#UUID} (status {@link Status#ARGUMENT}), and on a kernel that is too old
   */
  public static byte[] make(Standard standard) {
    return make(standard, 1);
  }

  /**
   * Some ids as bytes, one after the other. Never waits.
   *
   * @param standard what to make: any but {@link Standard#UUID}
   * @param count how many
   * @return {@link Standard#bytes()} bytes for each
   * @throws IllegalArgumentException if {@code count} is negative, or so many do not fit into an array
   * @throws ConfigException as for {@link #make(Standard)}
   */
  public static byte[] make(Standard standard, int count) {
    int most = Integer.MAX_VALUE / standard.bytes();
    if (count < 0 || count > most) {
      throw new IllegalArgumentException("count is " + count + ": it must be 0 to " + most);
    }
    var ids = new byte[count * standard.bytes()];
    NativeLoader.require();
    IdgenJNI.standardMake(standard.ordinal(), ids, standard.bytes(), count);
    return ids;
  }

  /**
   * A ULID as text. They sort by the time they were made; within a process they rise. Never waits.
   *
   * @return 26 characters of Crockford's base 32
   * @throws ConfigException on a kernel that is too old
   */
  public static String ulid() {
    return format(Standard.ULID, make(Standard.ULID));
  }

  /**
   * An ObjectId as text. They sort by the second in which they were made; within a process they rise. Never waits.
   *
   * @return 24 hexadecimal digits in lower case
   * @throws ConfigException on a kernel that is too old
   */
  public static String objectId() {
    return HexFormat.of().formatHex(make(Standard.OBJECT_ID)); // what format() gives, without a call
  }

  /**
   * An id as text. Never waits.
   *
   * @param standard what the id is; all UUIDs have the same form
   * @param id its bytes
   * @return a UUID in lower case with hyphens, a ULID in Crockford's base 32, an ObjectId in lower-case hexadecimal
   * @throws ConfigException if the id has another length (status {@link Status#VALUE})
   */
  public static String format(Standard standard, byte[] id) {
    NativeLoader.require();
    return Text.string(IdgenJNI.standardFormat(standard.ordinal(), checked(standard, id)));
  }

  /**
   * The id of a text, in either case. The length tells what it is: 36 characters, or 32 without hyphens, are a UUID, 26
   * a ULID, 24 an ObjectId. Never waits.
   *
   * @param text a UUID of any version, a ULID or an ObjectId
   * @return what it is, and its bytes
   * @throws ConfigException (status {@link Status#TEXT}) for a foreign digit, a wrong length, or a ULID that does not
   *     fit into 128 bits: the message has the position
   */
  public static ParsedStandard parse(String text) {
    var standard = new int[1];
    var id = new byte[16];
    NativeLoader.require();
    IdgenJNI.idgen_standard_parse(Text.utf8(text), standard, id);
    var found = Standard.of(standard[0]);
    return new ParsedStandard(found, Arrays.copyOf(id, found.bytes()));
  }

  /**
   * {@return what an id's bits say} Never waits.
   *
   * @param standard what the id is; which of the UUIDs does not matter
   * @param id its bytes
   * @throws ConfigException if the id has another length (status {@link Status#VALUE})
   */
  public static StandardParts decode(Standard standard, byte[] id) {
    var numbers = new long[StandardParts.NUMBERS];
    NativeLoader.require();
    IdgenJNI.idgen_standard_decode(standard.ordinal(), checked(standard, id), numbers);
    return StandardParts.of(numbers);
  }

  /**
   * {@return what a UUID's bits say} Never waits.
   *
   * @param id of any version and variant
   */
  public static StandardParts decode(UUID id) {
    var bytes = ByteBuffer.allocate(Standard.UUID.bytes());
    bytes.putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
    return decode(Standard.UUID, bytes.array());
  }

  private static byte[] checked(Standard standard, byte[] id) {
    if (id.length == standard.bytes()) return id;
    throw Errors.of(
        Status.VALUE, standard.standardName() + " has " + standard.bytes() + " bytes; these are " + id.length);
  }
}
