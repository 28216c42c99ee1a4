package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where the package looks for libidgen.so, in separate JVMs. */
class LoadingTest {
  private static final String CLASS_PATH = ChildJvm.CLASSES + File.pathSeparator + ChildJvm.TEST_CLASSES;

  @TempDir Path folder;

  private ChildJvm draw(String... options) throws Exception {
    var arguments = new java.util.ArrayList<>(List.of(options));
    arguments.addAll(List.of("-cp", CLASS_PATH, "dev.idgen.Draw"));
    return ChildJvm.run(folder, arguments.toArray(String[]::new));
  }

  private static void assertFails(ChildJvm run, String... words) {
    assertNotEquals(0, run.status(), run::out);
    for (String word : words) assertTrue(run.out().contains(word), () -> "\"" + word + "\" is not in: " + run.out());
  }

  private static void assertOutput(String expected, ChildJvm run) {
    assertEquals(expected + System.lineSeparator(), run.out());
    assertEquals(0, run.status());
  }

  @Test
  void withoutAnySettingTheJarsOwnCopyIsUsedAndNothingIsLeftBehind() throws Exception {
    var temporary = Files.createDirectory(folder.resolve("tmp"));
    assertOutput("1 from " + NativeLoader.resource(), draw("-Djava.library.path=", "-Djava.io.tmpdir=" + temporary));
    try (var left = Files.list(temporary)) {
      assertEquals(List.of(), left.filter(file -> file.getFileName().toString().contains("idgen")).toList());
    }
  }

  @Test
  void noModuleIsLoadedFromTheFolderThatTheJarsCopyIsUnpackedTo() throws Exception {
    var temporary = Files.createDirectory(folder.resolve("tmp"));
    for (String beside : List.of("idgen/modules", "modules")) {
      var planted = Files.createDirectories(temporary.resolve(beside));
      // Any content will do: the message shows an attempt to load it.
      Files.writeString(planted.resolve("libidgen_redis.so"), "not a library");
    }
    assertFails(
        draw("-Djava.library.path=", "-Djava.io.tmpdir=" + temporary, "-Dtest.store=redis://cache.invalid"),
        "ConfigException", "a jar's copy", "module.path");
  }

  @Test
  void theFolderToUnpackToIsMadeAndCanBeNamed() throws Exception {
    var unpack = folder.resolve("a/b");
    assertOutput(
        "1 from " + NativeLoader.resource(),
        draw("-Djava.library.path=", "-D" + NativeLoader.DIR_PROPERTY + "=" + unpack));
    assertTrue(Files.isDirectory(unpack));
  }

  @Test
  void aFolderThatCannotBeUnpackedToIsNamedWithTheRemedy() throws Exception {
    var notAFolder = Files.writeString(folder.resolve("file"), "");
    assertFails(
        draw("-Djava.library.path=", "-D" + NativeLoader.DIR_PROPERTY + "=" + notAFolder),
        "UnsatisfiedLinkError", notAFolder.toString(), "-D" + NativeLoader.DIR_PROPERTY + "=FOLDER");
  }

  @Test
  void theLibraryPathComesBeforeTheJar() throws Exception {
    var libraries = Files.createDirectory(folder.resolve("lib"));
    Files.createSymbolicLink(libraries.resolve("libidgen.so"), Path.of(ChildJvm.LIBRARY));
    assertOutput("1 from java.library.path", draw("-Djava.library.path=" + libraries));
  }

  @Test
  void theNamedFileComesBeforeAllElse() throws Exception {
    assertOutput("1 from " + ChildJvm.LIBRARY, draw("-D" + NativeLoader.PATH_PROPERTY + "=" + ChildJvm.LIBRARY));
  }

  @Test
  void aNamedFileThatIsMissingIsAnErrorAndNothingElseIsTried() throws Exception {
    var missing = folder.resolve("none.so");
    assertFails(
        draw("-D" + NativeLoader.PATH_PROPERTY + "=" + missing),
        "UnsatisfiedLinkError", missing.toString(), "the file does not exist");
  }

  @Test
  void aFileThatIsNoLibraryIsAnErrorThatNamesIt() throws Exception {
    var text = Files.writeString(folder.resolve("libidgen.so"), "not a library");
    assertFails(draw("-D" + NativeLoader.PATH_PROPERTY + "=" + text), text.toString(), "platform");
  }

  @Test
  void aLibraryWithoutOurNativesIsAnErrorThatSaysSo() throws Exception {
    // Any library that is not libidgen.so will do: the JVM's own.
    var other = Path.of(System.getProperty("java.home"), "lib", "libzip.so");
    assertFails(draw("-D" + NativeLoader.PATH_PROPERTY + "=" + other), other.toString(), "IDGEN_WITH_JNI");
  }

  @Test
  void aLibraryWithoutOurNativesOnTheLibraryPathDoesNotHideTheJarsCopy() throws Exception {
    var libraries = Files.createDirectory(folder.resolve("lib"));
    Files.copy(Path.of(System.getProperty("java.home"), "lib", "libzip.so"), libraries.resolve("libidgen.so"));
    assertOutput("1 from " + NativeLoader.resource(), draw("-Djava.library.path=" + libraries));
  }

  @Test
  void aFileSystemMountedNoexecIsRecognizedAndTheRemedyNamed() throws Exception {
    var file = Files.writeString(folder.resolve("libidgen.so"), "");
    var said = file + ": failed to map segment from shared object: Operation not permitted";
    var text = NativeLoader.explain(new UnsatisfiedLinkError(said), file);
    assertTrue(text.contains("noexec") && text.contains("-D" + NativeLoader.DIR_PROPERTY), text);
  }

  @Test
  void usedUpStaticTlsIsRecognizedAndTheRemedyNamed() throws Exception {
    var file = Files.writeString(folder.resolve("libidgen.so"), "");
    var said = file + ": cannot allocate memory in static TLS block";
    var text = NativeLoader.explain(new UnsatisfiedLinkError(said), file);
    assertTrue(text.contains("leave the file to the jar") && text.contains("GLIBC_TUNABLES="), text);
  }

  @Test
  void anApplicationIsDeployedAgainAndAgain() throws Exception {
    String[] sixty = {
      "-Djava.library.path=", "-cp", ChildJvm.TEST_CLASSES.toString(), "dev.idgen.Redeploy",
      ChildJvm.CLASSES.toString(), "60"
    };
    assertOutput("60 deployments", ChildJvm.run(folder, sixty));
  }

  @Test
  void platformsAreNamedAsTheFoldersOfTheJar() {
    assertEquals("linux-x86_64", NativeLoader.platform("Linux", "amd64", false));
    assertEquals("linux-aarch64-musl", NativeLoader.platform("Linux", "aarch64", true));
    assertEquals("macos-aarch64", NativeLoader.platform("Mac OS X", "aarch64", false));
    assertEquals("windows-x86_64", NativeLoader.platform("Windows 11", "amd64", false));
  }

  @Test
  void theLibraryOnTheClassPathIsTheOneThatWasBuilt() throws Exception {
    assertEquals(-1, Files.mismatch(ChildJvm.CLASSES.resolve(NativeLoader.resource()), Path.of(ChildJvm.LIBRARY)));
  }

  @Test
  void aJavaRuntimeWithoutJavaSqlIsEnough() throws Exception {
    assertOutput("1 from " + NativeLoader.resource(), draw("-Djava.library.path=", "--limit-modules", "java.base"));
    assertOutput(
        "1 in module dev.idgen",
        module("--limit-modules", "java.base", "--add-modules", "dev.idgen"));
  }

  @Test
  void thePackageWorksAsAModule() throws Exception {
    assertOutput("1 in module dev.idgen", module());
  }

  /** Compiles a module that requires ours, and runs it. */
  private ChildJvm module(String... options) throws Exception {
    var source = folder.resolve("src/app");
    Files.createDirectories(source.resolve("app"));
    Files.writeString(source.resolve("module-info.java"), "module app { requires dev.idgen; }");
    Files.writeString(
        source.resolve("app/Main.java"),
        """
        package app;
        public class Main {
          public static void main(String[] arguments) {
            try (var ids = dev.idgen.Generator.builder().kind("segment").store("memory").storeCreate(true).build()) {
              System.out.println(ids.next() + " in " + ids.getClass().getModule());
            }
          }
        }
        """);
    var app = folder.resolve("app");
    Compiler.compile(
        app,
        List.of("--module-path", ChildJvm.CLASSES.toString()),
        source.resolve("module-info.java"),
        source.resolve("app/Main.java"));
    var arguments = new java.util.ArrayList<>(List.of(options));
    arguments.addAll(List.of("--module-path", ChildJvm.CLASSES + File.pathSeparator + app, "-m", "app/app.Main"));
    return ChildJvm.run(folder, arguments.toArray(String[]::new));
  }

  @Test
  void noNativeBreaksARuleOfJni() throws Exception {
    String library = "-D" + NativeLoader.PATH_PROPERTY + "=" + ChildJvm.LIBRARY;
    var run =
        ChildJvm.run(folder, "-Xcheck:jni", library, "-cp", CLASS_PATH, "dev.idgen.Exercise", folder.toString());
    assertOutput("done", run);
  }

  @Test
  void aGeneratorCanBeConfiguredByTheEnvironmentAlone() throws Exception {
    var variables =
        Map.of(
            "IDGEN_ORDERS_KIND", "segment", "IDGEN_ORDERS_STORE", "sqlite:ids.db", "IDGEN_ORDERS_STORE_CREATE", "true");
    var arguments = new String[] {"-Dtest.environment=orders", "-cp", CLASS_PATH, Draw.class.getName()};
    var home = Path.of(System.getProperty("java.home"));
    var run = ChildJvm.runBy(home, folder, variables, arguments);
    assertEquals(0, run.status(), run.out());
    assertTrue(run.out().startsWith("1 from "), run.out());
    assertTrue(Files.exists(folder.resolve("ids.db")));
    var misspelled = ChildJvm.runBy(home, folder, Map.of("IDGEN_ORDERS_SEGMENT_STEPP", "1"), arguments);
    assertTrue(misspelled.out().contains("IDGEN_ORDERS_SEGMENT_STEPP"), misspelled.out());
  }

  @Test
  void everyUseAfterAFailedLoadFailsWithTheSameWords() throws Exception {
    var text = Files.writeString(folder.resolve("libidgen.so"), "not a library");
    for (var broken : List.of(text, folder.resolve("none.so"))) {
      var run =
          ChildJvm.run(
              folder, "-D" + NativeLoader.PATH_PROPERTY + "=" + broken, "-cp", CLASS_PATH, "dev.idgen.EveryFirstUse");
      assertEquals(0, run.status(), run::out);
      var lines = uses(run); // the JVM warns of such a library too
      assertTrue(lines.size() >= 60, run::out);
      for (String line : lines) {
        assertTrue(line.contains(": UnsatisfiedLinkError: idgen: cannot load the library that -D"), line);
        assertTrue(line.contains(broken.toString()), line);
      }
    }
  }

  @Test
  void aLibraryOfAnotherReleaseIsRefusedAtEveryUse() throws Exception {
    var run = ChildJvm.run(folder, "-Dtest.refused=true", "-D" + NativeLoader.PATH_PROPERTY + "=" + ChildJvm.LIBRARY,
        "-cp", CLASS_PATH, "dev.idgen.EveryFirstUse");
    assertEquals(0, run.status(), run::out);
    assertTrue(uses(run).size() >= 60, run::out);
    for (String line : uses(run)) {
      assertTrue(line.contains(": UnsatisfiedLinkError: idgen: refused by a test"), line);
    }
  }

  private static List<String> uses(ChildJvm run) {
    return run.out().lines().filter(line -> line.startsWith("use of ")).toList();
  }
}
