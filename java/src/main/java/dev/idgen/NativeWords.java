package dev.idgen;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Reads and changes words of 64 bits in the library's memory, for {@link View}: by their address where Java has a
 * {@code MemorySegment} (22 and later) and allows its use, else in a direct buffer, which the virtual machine checks
 * again after each access that orders others.
 *
 * <p>The methods are static and take both, because the virtual machine would also read the fields of an object again
 * after each such access, even final fields. A caller keeps both in variables instead.
 */
final class NativeWords {
  private static final VarHandle AT_ADDRESS = atAddress(); // null: not here
  private static final VarHandle IN_BUFFER =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private NativeWords() {}

  /** For tests. */
  static boolean isByAddress() {
    return AT_ADDRESS != null;
  }

  static long getAndAdd(ByteBuffer buffer, long address, int offset, long delta) {
    // One instruction; getAndAddAcquire is a loop around another.
    if (AT_ADDRESS != null) return (long) AT_ADDRESS.getAndAdd(address + offset, delta);
    return (long) IN_BUFFER.getAndAdd(buffer, offset, delta);
  }

  static boolean compareAndSet(ByteBuffer buffer, long address, int offset, long expected, long value) {
    if (AT_ADDRESS != null) return (boolean) AT_ADDRESS.compareAndSet(address + offset, expected, value);
    return (boolean) IN_BUFFER.compareAndSet(buffer, offset, expected, value);
  }

  static long getAcquire(ByteBuffer buffer, long address, int offset) {
    if (AT_ADDRESS != null) return (long) AT_ADDRESS.getAcquire(address + offset);
    return (long) IN_BUFFER.getAcquire(buffer, offset);
  }

  static long get(ByteBuffer buffer, long address, int offset) {
    if (AT_ADDRESS != null) return (long) AT_ADDRESS.get(address + offset);
    return (long) IN_BUFFER.get(buffer, offset);
  }

  /**
   * All memory as one segment, a constant: nothing is left of its checks. By reflection, because this is compiled for
   * versions without; and only where natives are allowed already, because otherwise it would print a warning.
   */
  private static VarHandle atAddress() {
    if (Runtime.version().feature() < 22) return null; // with a preview of it, which is another
    try {
      Object isAllowed = Module.class.getMethod("isNativeAccessEnabled").invoke(NativeWords.class.getModule());
      if (!(boolean) isAllowed) return null;
      Class<?> segments = Class.forName("java.lang.foreign.MemorySegment");
      Object nothing = segments.getField("NULL").get(null);
      Object all = segments.getMethod("reinterpret", long.class).invoke(nothing, Long.MAX_VALUE);
      Object layout = Class.forName("java.lang.foreign.ValueLayout").getField("JAVA_LONG").get(null);
      Class<?> path = Class.forName("[Ljava.lang.foreign.MemoryLayout$PathElement;");
      var ofSegments =
          (VarHandle)
              Class.forName("java.lang.foreign.MemoryLayout")
                  .getMethod("varHandle", path)
                  .invoke(layout, Array.newInstance(path.getComponentType(), 0));
      return (VarHandle)
          MethodHandles.class
              .getMethod("insertCoordinates", VarHandle.class, int.class, Object[].class)
              .invoke(null, ofSegments, 0, new Object[] {all});
    } catch (ReflectiveOperationException | RuntimeException e) {
      return null;
    }
  }
}
