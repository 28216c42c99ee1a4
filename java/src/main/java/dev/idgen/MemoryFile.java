package dev.idgen;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A file in memory, of which no file system keeps anything: for a library where no folder can be both written to and
 * executed from. Its maker is {@code memfd_create(2)}, which Java can call since 22, by {@code java.lang.foreign}. This
 * class finds that package by name, because the source is Java 17.
 */
final class MemoryFile {
  private static final int CLOSE_ON_EXEC = 1;
  /** Linux 6.3 and newer. Without it, {@code vm.memfd_noexec} decides whether the file can be executed. */
  private static final int EXECUTABLE = 0x10;

  private MemoryFile() {}

  static boolean isPossible() {
    return Runtime.version().feature() >= 22;
  }

  /**
   * The path of a new file with these bytes. Its descriptor stays open: the JVM takes the same path, in two class
   * loaders, for the same library.
   */
  static Path of(String name, byte[] bytes) throws IOException {
    int descriptor;
    try {
      descriptor = create(name);
    } catch (Throwable e) {
      throw new IOException("memfd_create cannot be called: " + e, e);
    }
    if (descriptor < 0) {
      throw new IOException("memfd_create failed: the system forbids files in memory that can be executed"
          + " (vm.memfd_noexec, or a filter of system calls)");
    }
    Path path = Path.of("/proc/self/fd/" + descriptor);
    Files.write(path, bytes);
    return path;
  }

  /** A descriptor, or -1. */
  private static int create(String name) throws Throwable {
    Class<?> linkers = Class.forName("java.lang.foreign.Linker");
    Class<?> layouts = Class.forName("java.lang.foreign.MemoryLayout");
    Class<?> values = Class.forName("java.lang.foreign.ValueLayout");
    Class<?> descriptors = Class.forName("java.lang.foreign.FunctionDescriptor");
    Class<?> segments = Class.forName("java.lang.foreign.MemorySegment");
    Class<?> arenas = Class.forName("java.lang.foreign.Arena");
    Class<?> options = Class.forName("java.lang.foreign.Linker$Option");

    Object number = values.getField("JAVA_INT").get(null);
    Object arguments = Array.newInstance(layouts, 2);
    Array.set(arguments, 0, values.getField("ADDRESS").get(null));
    Array.set(arguments, 1, number);
    Object signature = descriptors.getMethod("of", layouts, arguments.getClass()).invoke(null, number, arguments);

    Object linker = linkers.getMethod("nativeLinker").invoke(null);
    Object lookup = linkers.getMethod("defaultLookup").invoke(linker);
    Optional<?> address =
        (Optional<?>)
            Class.forName("java.lang.foreign.SymbolLookup").getMethod("find", String.class)
                .invoke(lookup, "memfd_create");
    if (address.isEmpty()) throw new UnsupportedOperationException("the C library does not have it");
    Object none = Array.newInstance(options, 0);
    MethodHandle call =
        (MethodHandle)
            linkers.getMethod("downcallHandle", segments, descriptors, none.getClass())
                .invoke(linker, address.get(), signature, none);
    Object arena = arenas.getMethod("ofAuto").invoke(null);
    Object text = arenas.getMethod("allocateFrom", String.class).invoke(arena, name);
    int made = (int) call.invokeWithArguments(text, CLOSE_ON_EXEC | EXECUTABLE);
    return made >= 0 ? made : (int) call.invokeWithArguments(text, CLOSE_ON_EXEC);
  }
}
