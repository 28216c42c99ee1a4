package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where the package looks for libidgen.so, in separate JVMs. */
class LoadingTest {
  private static final String CLASS_PATH = ChildJvm.CLASSES + File.pathSeparator + ChildJvm.TEST_CLASSES;

  @TempDir Path folder;

  private ChildJvm draw(String... options) throws Exception {
    return run("dev.idgen.Draw", options);
  }

  private ChildJvm run(String program, String... options) throws Exception {
    var arguments = new ArrayList<>(List.of(options));
    arguments.addAll(List.of("-cp", CLASS_PATH, program));
    return ChildJvm.run(folder, arguments.toArray(String[]::new));
  }

  private static String named(Object library) {
    return "-D" + NativeLoader.PATH_PROPERTY + "=" + library;
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

  /** A folder where nobody can make a file. */
  private static final String USELESS = "-Djava.io.tmpdir=/proc";

  @Test
  void whereTheTemporaryFolderIsUselessNewerJavaLoadsTheJarsCopyFromMemory() throws Exception {
    String[] draw = {"-Djava.library.path=", USELESS, "-cp", CLASS_PATH, "dev.idgen.Draw"};
    assertOutput("1 from " + NativeLoader.resource(), ChildJvm.runBy(NewerJavaTest.ofVersion(22), folder, draw));
    if (!MemoryFile.isPossible()) {
      assertFails(ChildJvm.run(folder, draw), "/proc", "-D" + NativeLoader.DIR_PROPERTY + "=FOLDER");
    }
  }

  @Test
  void eachApplicationOfAProcessLoadsItsCopyFromMemory() throws Exception {
    String[] three = {
      "-Djava.library.path=", USELESS, "-cp", ChildJvm.TEST_CLASSES.toString(), "dev.idgen.Redeploy",
      ChildJvm.CLASSES.toString(), "3"
    };
    assertOutput("3 deployments", ChildJvm.runBy(NewerJavaTest.ofVersion(22), folder, three));
  }

  @Test
  void theLibraryPathComesBeforeTheJar() throws Exception {
    var libraries = Files.createDirectory(folder.resolve("lib"));
    Files.createSymbolicLink(libraries.resolve("libidgen.so"), Path.of(ChildJvm.LIBRARY));
    assertOutput("1 from java.library.path", draw("-Djava.library.path=" + libraries));
  }

  @Test
  void theNamedFileComesBeforeAllElse() throws Exception {
    assertOutput("1 from " + ChildJvm.LIBRARY, draw(named(ChildJvm.LIBRARY)));
  }

  @Test
  void aLibraryWithoutOurNativesIsAnErrorThatSaysSo() throws Exception {
    // Any library that is not libidgen.so will do: the JVM's own.
    var other = Path.of(System.getProperty("java.home"), "lib", "libzip.so");
    assertFails(draw(named(other)), other.toString(), "IDGEN_WITH_JNI");
  }

  @Test
  void aLibraryWithoutOurNativesOnTheLibraryPathDoesNotHideTheJarsCopy() throws Exception {
    var libraries = Files.createDirectory(folder.resolve("lib"));
    Files.copy(Path.of(System.getProperty("java.home"), "lib", "libzip.so"), libraries.resolve("libidgen.so"));
    assertOutput("1 from " + NativeLoader.resource(), draw("-Djava.library.path=" + libraries));
  }

  @Test
  void whatTheSystemsLoaderSaysIsRecognizedAndTheRemedyNamed() throws Exception {
    var file = Files.writeString(folder.resolve("libidgen.so"), "");
    var remedies =
        Map.of(
            "failed to map segment from shared object: Operation not permitted",
            List.of("noexec", "-D" + NativeLoader.DIR_PROPERTY),
            "cannot allocate memory in static TLS block",
            List.of("leave the file to the jar", "GLIBC_TUNABLES="));
    remedies.forEach((said, words) -> {
      var text = NativeLoader.explain(new UnsatisfiedLinkError(file + ": " + said), file);
      for (String word : words) assertTrue(text.contains(word), text);
    });
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
  void aJavaRuntimeWithoutJavaSqlIsEnoughAndThePackageWorksAsAModule() throws Exception {
    assertOutput("1 from " + NativeLoader.resource(), draw("-Djava.library.path=", "--limit-modules", "java.base"));
    assertOutput("1 in module dev.idgen", module("--limit-modules", "java.base", "--add-modules", "dev.idgen"));
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
    var arguments = new ArrayList<>(List.of(options));
    arguments.addAll(List.of("--module-path", ChildJvm.CLASSES + File.pathSeparator + app, "-m", "app/app.Main"));
    return ChildJvm.run(folder, arguments.toArray(String[]::new));
  }

  /** The JVM prints a line for each rule that is broken, and nothing else is printed. */
  @Test
  void noNativeBreaksARuleOfJni() throws Exception {
    var arguments = new ArrayList<>(List.of("-Xcheck:jni", named(ChildJvm.LIBRARY)));
    for (String name : List.of("idgen.test.repository", "idgen.test.classes")) {
      arguments.add("-D" + name + "=" + System.getProperty(name));
    }
    arguments.addAll(List.of("-cp", System.getProperty("java.class.path"), "dev.idgen.RunTests"));
    var tests = List.of(CallsTest.class, ClockTest.class, FillBufferTest.class, GeneratorTest.class, IdCipherTest.class,
        LayoutTest.class, LogTest.class, MetricsTest.class, OwnerTest.class, RouterTest.class, StoreTest.class,
        TextPatternTest.class, WideIdTest.class, WorkerStoreTest.class);
    for (Class<?> test : tests) arguments.add(test.getName());
    var run = ChildJvm.run(folder, arguments.toArray(String[]::new));
    assertTrue(run.out().matches("[1-9][0-9]+ tests\n"), run::out);
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
    var missing = folder.resolve("none.so");
    for (var broken : Map.of(text, "platform", missing, "the file does not exist").entrySet()) {
      // The JVM warns of such a library too.
      for (String line : uses(named(broken.getKey()))) {
        assertTrue(line.contains(": UnsatisfiedLinkError: idgen: cannot load the library that -D"), line);
        assertTrue(line.contains(broken.getKey().toString()) && line.contains(broken.getValue()), line);
      }
    }
  }

  @Test
  void aLibraryOfAnotherReleaseIsRefusedAtEveryUse() throws Exception {
    for (String line : uses("-Dtest.refused=true", named(ChildJvm.LIBRARY))) {
      assertTrue(line.contains(": UnsatisfiedLinkError: idgen: refused by a test"), line);
    }
  }

  private List<String> uses(String... options) throws Exception {
    var run = run("dev.idgen.EveryFirstUse", options);
    assertEquals(0, run.status(), run::out);
    var lines = run.out().lines().filter(line -> line.startsWith("use of ")).toList();
    assertTrue(lines.size() >= 60, run::out);
    return lines;
  }
}
