package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NewerJavaTest {
  private static final int FIRST = 21;

  @Test
  void virtualThreadsWaitWithoutAThreadEachAndMemoryIsReadByItsAddress(@TempDir Path folder) throws Exception {
    var java = newerJava();
    assumeTrue(java.isPresent(), "there is no Java " + FIRST + " or newer beside this one");
    var run =
        ChildJvm.runBy(
            java.get(),
            folder,
            "-Djdk.virtualThreadScheduler.parallelism=2",
            "-D" + NativeLoader.PATH_PROPERTY + "=" + ChildJvm.LIBRARY,
            "-cp",
            System.getProperty("java.class.path"),
            NewerJava.class.getName());
    assertEquals(0, run.status(), run.out());
    assertTrue(run.out().endsWith("done\n"), run.out());
  }

  /** This one's home, or one beside it. */
  private static Optional<Path> newerJava() throws IOException {
    var home = Path.of(System.getProperty("java.home"));
    if (isNewer(home)) return Optional.of(home);
    try (var beside = Files.list(home.toRealPath().getParent())) {
      return beside.filter(NewerJavaTest::isNewer).sorted().findFirst();
    }
  }

  private static boolean isNewer(Path home) {
    try {
      var version = Pattern.compile("JAVA_VERSION=\"(\\d+)").matcher(Files.readString(home.resolve("release")));
      return version.find() && Integer.parseInt(version.group(1)) >= FIRST;
    } catch (IOException e) {
      return false;
    }
  }
}
