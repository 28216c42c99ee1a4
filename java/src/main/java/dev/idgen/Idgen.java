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
 * to do.
 */
public final class Idgen {
  private Idgen() {}

  /**
   * The version of the library in use.
   *
   * @return for example {@code "0.1.0"}
   */
  public static String version() {
    return Text.string(IdgenJNI.idgen_version_string());
  }

  /**
   * The version of the library's C ABI. The package refuses a library whose ABI differs from its own.
   *
   * @return the number in {@code libidgen.so.N}
   */
  public static int abiVersion() {
    return IdgenJNI.idgen_abi_version();
  }

  /**
   * Where the library came from, for support questions.
   *
   * @return a file, {@code "java.library.path"}, or the jar's resource
   */
  public static String libraryPath() {
    Idgen.abiVersion(); // loads it
    return NativeLoader.loadedFrom();
  }

  /**
   * All properties that {@link Generator.Builder#set} and a configuration file take.
   *
   * @return the table from which docs/configuration.md is generated
   */
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
    return Text.string(IdgenJNI.configNames(Text.utf8(toml.toString()))).lines().toList();
  }
}
