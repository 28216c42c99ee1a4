package dev.idgen;

import java.nio.file.Path;
import java.util.List;

/**
 * About the library itself. The first use of any class of this package loads {@code libidgen.so}, from the first of
 * these places that has it:
 *
 * <ol>
 *   <li>the file that the system property {@code idgen.native.path} names, and then nothing else;
 *   <li>the folders of {@code java.library.path}, as {@code System.loadLibrary("idgen")} finds it;
 *   <li>the copy in the jar, unpacked to the folder that the system property {@code idgen.native.dir} names, else to
 *       {@code java.io.tmpdir}. That folder must allow execution (not be mounted {@code noexec}).
 * </ol>
 *
 * <p>If none has it, or its version is not this package's, an {@link UnsatisfiedLinkError} says what was tried and what
 * to do: the same at each use.
 */
public final class Idgen {
  private Idgen() {}

  /** {@return the version of the library in use, such as {@code "0.1.0"}} */
  public static String version() {
    NativeLoader.require();
    return Text.string(IdgenJNI.idgen_version_string());
  }

  /** {@return the version of the library's C ABI, as in {@code libidgen.so.N}: any other is refused} */
  public static int abiVersion() {
    NativeLoader.require();
    return IdgenJNI.idgen_abi_version();
  }

  /** {@return where the library came from: a file, {@code "java.library.path"}, or the jar's resource} */
  public static String libraryPath() {
    Idgen.abiVersion(); // loads it
    return NativeLoader.loadedFrom();
  }

  /**
   * Prepares this process for being copied: by a checkpoint (CRaC, CRIU), a snapshot of its machine, or a clone. All
   * generators give back what they have reserved, and their workers, and close their connections. Until {@link
   * #reset()}, calls for ids wait, up to {@code wait_max}, and throw a {@link StoreException}. Other threads should
   * draw no ids meanwhile: one that was drawn before and not yet returned is returned in each copy. A store that is
   * copied too, such as a SQLite file on the machine's disk, grants the same numbers again in each copy: use one
   * outside. May wait for the stores.
   */
  public static void quiesce() {
    NativeLoader.require();
    IdgenJNI.idgen_quiesce();
  }

  /**
   * To be called in each copy, and in the original: nothing that was reserved before is issued any more, and each
   * generator starts over with its next call, as another owner. In a copy that was made without {@link #quiesce()}
   * nothing is given back, because it is also the original's, and a fixed worker is refused ({@link
   * WorkerBusyException}) while the original lives. May wait for the stores.
   */
  public static void reset() {
    NativeLoader.require();
    IdgenJNI.idgen_reset();
  }

  /** {@return all properties that {@link Generator.Builder#set} and a configuration file take} */
  public static List<Property> properties() {
    return Property.all();
  }

  /**
   * The names of the generators in a configuration file.
   *
   * @param toml the file
   * @return names for {@link Generator#open(Path, String)}, in the file's order
   * @throws ConfigException if the file is missing, unreadable or malformed
   */
  public static List<String> names(Path toml) {
    NativeLoader.require();
    return Text.string(IdgenJNI.configNames(Text.utf8(toml.toString()))).lines().toList();
  }
}
