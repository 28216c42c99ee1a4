package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NewerJavaTest {
  @Test
  void virtualThreadsWaitWithoutAThreadEachAndMemoryIsReadByItsAddress(@TempDir Path folder) throws Exception {
    var run =
        ChildJvm.runBy(
            ofVersion(21),
            folder,
            "-Djdk.virtualThreadScheduler.parallelism=2",
            "-D" + NativeLoader.PATH_PROPERTY + "=" + ChildJvm.LIBRARY,
            "-cp",
            System.getProperty("java.class.path"),
            NewerJava.class.getName());
    assertEquals(0, run.status(), run.out());
    assertTrue(run.out().endsWith("done\n"), run.out());
  }

  /** The home of a Java of this version or a newer one: ours, or one beside it. Skips the test where there is none. */
  static Path ofVersion(int version) throws IOException {
    var home = Path.of(System.getProperty("java.home"));
    try (var beside = Files.list(home.toRealPath().getParent())) {
      var homes = Stream.concat(Stream.of(home), beside.sorted());
      var found = homes.filter(java -> versionOf(java) >= version).findFirst();
      assumeTrue(found.isPresent(), "there is no Java " + version + " or newer beside this one");
      return found.get();
    }
  }

  private static int versionOf(Path home) {
    try {
      var version = Pattern.compile("JAVA_VERSION=\"(\\d+)").matcher(Files.readString(home.resolve("release")));
      return version.find() ? Integer.parseInt(version.group(1)) : 0;
    } catch (IOException e) {
      return 0;
    }
  }
}
