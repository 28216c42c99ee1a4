package dev.idgen;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Finds and loads {@code libidgen.so}, once for each class loader, in this order:
 *
 * <ol>
 *   <li>the file that the system property {@code idgen.native.path} names. If it is set, nothing else is tried;
 *   <li>{@code System.loadLibrary("idgen")}: the folders of {@code java.library.path};
 *   <li>the copy in the jar, {@code META-INF/native/<os>-<arch>[-musl]/libidgen.so}. It is written to the folder that
 *       the system property {@code idgen.native.dir} names, else to {@code java.io.tmpdir}, in a new folder that only
 *       this user can enter (0700), and compared with the original before it is loaded. Both are deleted as soon as it
 *       is loaded, so that even a killed JVM leaves nothing behind, or at exit if the system does not allow that. Where
 *       {@code java.io.tmpdir} cannot be written to or executed from, Java 22 and newer loads the copy from memory.
 * </ol>
 *
 * <p>Step 2 skips a library without our natives, in favour of the copy in the jar. A library with natives must have our
 * ABI version and the same natives, or the first use of the package fails with an {@link UnsatisfiedLinkError} that
 * says so: by then JNI has bound our class to it, and no other can be tried.
 *
 * <p>The library looks for store modules beside its own file. The folder it is unpacked to is usually writable by
 * everybody, so it must not look there: the copy has a folder to itself, and a library whose file is gone looks
 * nowhere. With the jar's copy, modules come from {@code module.path} alone.
 */
final class NativeLoader {
  static final String PATH_PROPERTY = "idgen.native.path";
  static final String DIR_PROPERTY = "idgen.native.dir";

  /** IDGEN_ABI_VERSION that this package was written for. */
  static final int ABI_VERSION = 1;

  /** kJniVersion of bindings/java/jni_support.hpp. */
  static final int JNI_VERSION = 19;

  private static volatile String loadedFrom = "";

  /** Why there is no library; null if there is one. Written once, by the initializer of IdgenJNI. */
  private static volatile Throwable failure;

  /** Not volatile: who does not see it yet looks again. */
  private static boolean isLoaded;

  private NativeLoader() {}

  /**
   * Called once, by the initializer of IdgenJNI, and throws nothing: what is thrown there becomes a {@link
   * NoClassDefFoundError} that says nothing when the class is used again.
   */
  static void load() {
    try {
      loadedFrom = find();
      checkVersion(loadedFrom);
      IdgenJNI.setSqlDriver();
    } catch (Throwable e) {
      failure = e;
    }
  }

  /**
   * What begins without an object of this package calls this first: it loads the library, or throws what was wrong with
   * it, each time the same.
   */
  static void require() {
    if (isLoaded) return;
    IdgenJNI.initialize();
    Throwable found = failure;
    if (found != null) {
      String message = found instanceof UnsatisfiedLinkError ? found.getMessage() : "idgen: cannot be loaded: " + found;
      var error = new UnsatisfiedLinkError(message);
      error.initCause(found);
      throw error;
    }
    isLoaded = true;
  }

  /** For support questions: the file, or how it was found. */
  static String loadedFrom() {
    return loadedFrom;
  }

  private static String find() {
    String path = System.getProperty(PATH_PROPERTY);
    if (path != null) {
      Path file = Path.of(path).toAbsolutePath();
      try {
        System.load(file.toString());
      } catch (UnsatisfiedLinkError e) {
        throw failure("cannot load the library that -D" + PATH_PROPERTY + " names", explain(e, file), e);
      }
      checkNatives(file.toString());
      return file.toString();
    }
    UnsatisfiedLinkError notOnPath;
    try {
      System.loadLibrary("idgen");
      checkNatives("java.library.path");
      return "java.library.path";
    } catch (UnsatisfiedLinkError e) {
      notOnPath = e;
    }
    UnsatisfiedLinkError failure;
    try {
      String resource = loadFromJar();
      checkNatives(resource);
      return resource;
    } catch (UnsatisfiedLinkError e) {
      failure = e;
    }
    failure.addSuppressed(notOnPath);
    throw failure;
  }

  /** Where the jar holds the library for this machine. */
  static String resource() {
    return resource(thisPlatform());
  }

  private static final List<String> PLATFORMS =
      List.of("linux-x86_64", "linux-x86_64-musl", "linux-aarch64", "linux-aarch64-musl");

  private static String resource(String platform) {
    return "META-INF/native/" + platform + "/libidgen.so";
  }

  private static String thisPlatform() {
    return platform(System.getProperty("os.name"), System.getProperty("os.arch"), isMusl());
  }

  static String platform(String osName, String osArch, boolean musl) {
    String name = osName.toLowerCase(Locale.ROOT);
    String os = name.startsWith("mac") ? "macos" : name.startsWith("windows") ? "windows" : name.replace(' ', '_');
    String arch =
        switch (osArch.toLowerCase(Locale.ROOT)) {
          case "amd64", "x86_64", "x64" -> "x86_64";
          case "aarch64", "arm64" -> "aarch64";
          default -> osArch.toLowerCase(Locale.ROOT);
        };
    return os + '-' + arch + (musl ? "-musl" : "");
  }

  /** Whether the C library of this very process is musl: a distribution can have both. */
  private static boolean isMusl() {
    try (var maps = Files.lines(Path.of("/proc/self/maps"))) {
      return maps.anyMatch(line -> line.contains("/ld-musl-"));
    } catch (IOException | RuntimeException e) {
      return false;
    }
  }

  private static String loadFromJar() {
    String resource = resource();
    byte[] library = read(resource);
    String wanted = System.getProperty(DIR_PROPERTY);
    Path folder = Path.of(wanted != null ? wanted : System.getProperty("java.io.tmpdir")).toAbsolutePath();
    try {
      loadFrom(folder, library);
    } catch (UnsatisfiedLinkError e) {
      if (wanted != null || !MemoryFile.isPossible()) throw e;
      loadFromMemory(library, e);
    }
    return resource;
  }

  private static byte[] read(String resource) {
    try (InputStream in = NativeLoader.class.getResourceAsStream('/' + resource)) {
      if (in != null) return in.readAllBytes();
    } catch (IOException e) {
      throw failure("cannot read the library of the jar", resource + ": " + e, e);
    }
    var has = PLATFORMS.stream().filter(it -> NativeLoader.class.getResource('/' + resource(it)) != null).toList();
    throw failure(
        "no idgen library for this machine",
        "looked in java.library.path (" + System.getProperty("java.library.path") + ") and for " + resource
            + " in the jar, which has libraries for " + (has.isEmpty() ? "no machine" : String.join(", ", has))
            + ". Use a jar that has one for " + thisPlatform() + ", or build libidgen.so with IDGEN_WITH_JNI and name"
            + " it with -D" + PATH_PROPERTY + "=FILE",
        null);
  }

  private static void loadFrom(Path folder, byte[] library) {
    Path ownFolder = null;
    Path file = null;
    try {
      Files.createDirectories(folder);
      ownFolder = Files.createTempDirectory(folder, "libidgen-", onlyForUs());
      file = Files.createFile(ownFolder.resolve("libidgen.so"), onlyForUs());
      Files.write(file, library);
      if (!Arrays.equals(Files.readAllBytes(file), library)) {
        throw failure(
            "cannot unpack the library of the jar",
            file + " does not hold what was written to it; " + otherFolder(),
            null);
      }
      System.load(file.toString());
    } catch (IOException e) {
      throw failure(
          "cannot unpack the library of the jar", "writing to " + folder + " failed (" + e + "); " + otherFolder(), e);
    } catch (UnsatisfiedLinkError e) {
      throw file == null ? e : failure("cannot load the library of the jar", explain(e, file), e);
    } finally {
      delete(ownFolder, file);
    }
  }

  private static void loadFromMemory(byte[] library, UnsatisfiedLinkError fromFolder) {
    try {
      System.load(MemoryFile.of("libidgen.so", library).toString());
    } catch (IOException | UnsatisfiedLinkError e) {
      String message = fromFolder.getMessage() + "; loading it from memory failed too: " + e.getMessage();
      var error = new UnsatisfiedLinkError(message);
      error.initCause(e);
      error.addSuppressed(fromFolder);
      throw error;
    }
  }

  private static FileAttribute<?>[] onlyForUs() {
    if (!FileSystems.getDefault().supportedFileAttributeViews().contains("posix")) return new FileAttribute<?>[0];
    return new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))};
  }

  /** Either may be null if it was not made. */
  private static void delete(Path folder, Path file) {
    try {
      if (file != null) Files.delete(file);
      if (folder != null) Files.delete(folder);
    } catch (IOException e) {
      folder.toFile().deleteOnExit();
      if (file != null) file.toFile().deleteOnExit(); // what is marked last is deleted first
    }
  }

  /** What to do about a file that the system's loader refuses to load. */
  static String explain(UnsatisfiedLinkError error, Path file) {
    String said = String.valueOf(error.getMessage());
    String advice;
    if (!Files.exists(file)) {
      advice = "the file does not exist";
    } else if (said.contains("failed to map segment") || said.contains("Operation not permitted")) {
      advice = "the folder is on a file system mounted noexec; " + otherFolder();
    } else if (said.contains("cannot open shared object file")) {
      advice =
          "a library it needs is missing (SQLite: package libsqlite3-0 on Debian, sqlite-libs on Fedora and Alpine)";
    } else if (said.contains("already loaded in another classloader")) {
      advice =
          "a library file can belong to one class loader only: put the idgen jar where all applications share it, or"
              + " leave the file to the jar";
    } else if (said.contains("static TLS")) {
      advice =
          "the libraries of this process have used up what its C library keeps for their thread-local variables: leave"
              + " the file to the jar, whose copy needs none of it, or start the JVM with more in its environment,"
              + " GLIBC_TUNABLES=glibc.rtld.optional_static_tls=65536";
    } else {
      advice = "it may be for another platform than " + thisPlatform();
    }
    return said + ": " + advice;
  }

  private static String otherFolder() {
    return "name a folder that can be written and executed from with -D" + DIR_PROPERTY
        + "=FOLDER, or the library itself with -D" + PATH_PROPERTY + "=FILE";
  }

  private static void checkNatives(String from) {
    try {
      IdgenJNI.jniVersion();
    } catch (UnsatisfiedLinkError e) {
      throw failure(
          "the libidgen.so found has no Java entry points", from + ": it was built without IDGEN_WITH_JNI", e);
    }
  }

  private static void checkVersion(String from) {
    int abi = IdgenJNI.idgen_abi_version();
    int jni = IdgenJNI.jniVersion();
    if (abi != ABI_VERSION || jni != JNI_VERSION) {
      throw failure(
          "the libidgen.so found is not of this package's version",
          from + " has ABI " + abi + " and natives " + jni + ", this jar needs ABI " + ABI_VERSION + " and natives "
              + JNI_VERSION + ". Use the library of the same release, or the jar's own copy",
          null);
    }
  }

  private static UnsatisfiedLinkError failure(String what, String detail, Throwable cause) {
    var error = new UnsatisfiedLinkError("idgen: " + what + ": " + detail);
    if (cause != null) error.initCause(cause);
    return error;
  }
}
