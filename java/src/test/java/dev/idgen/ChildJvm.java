package dev.idgen;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * Runs a program in a separate JVM: a library can be loaded only once in ours, and what a JVM prints is visible only
 * from outside.
 */
record ChildJvm(int status, String out) {
  /** Our classes and the library, as the jar has them. */
  static final Path CLASSES = Path.of(System.getProperty("idgen.test.classes")).toAbsolutePath().normalize();

  static final String LIBRARY =
      Path.of(System.getProperty("idgen.native.path")).toAbsolutePath().normalize().toString();

  /** The programs that are run: the class path of the tests. */
  static final Path TEST_CLASSES = CLASSES.resolveSibling("test-classes");

  /** Standard output and standard error together, in the order they were written. */
  static ChildJvm run(Path directory, String... arguments) throws IOException, InterruptedException {
    return runBy(Path.of(System.getProperty("java.home")), directory, arguments);
  }

  /** By the Java of another home. */
  static ChildJvm runBy(Path home, Path directory, String... arguments) throws IOException, InterruptedException {
    return runBy(home, directory, Map.of(), arguments);
  }

  /** With more variables in its environment. */
  static ChildJvm runBy(Path home, Path directory, Map<String, String> environment, String... arguments)
      throws IOException, InterruptedException {
    var command = new ArrayList<String>();
    command.add(home.resolve("bin").resolve("java").toString());
    command.add("-Dstdout.encoding=UTF-8");
    // Known from 16 on, wanted from 24 on.
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(List.of(arguments));
    var builder = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true);
    builder.environment().putAll(environment);
    var process = builder.start();
    try {
      process.getOutputStream().close();
      var lines = process.inputReader(StandardCharsets.UTF_8).lines();
      var out = CompletableFuture.supplyAsync(() -> lines.map(line -> line + "\n").collect(Collectors.joining()));
      return new ChildJvm(process.waitFor(), out.join());
    } finally {
      process.destroyForcibly(); // if the test has met its deadline
    }
  }
}
