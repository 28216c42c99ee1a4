package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compiles and runs every Java sample of the documentation verbatim. A sample is the body of a main method: its imports
 * are moved to the top, and nothing else is added but {@code import dev.idgen.*}. It runs in its own folder, which has
 * the document's first {@code toml} sample as idgen.toml, and the store that the document's sample with {@code
 * createStore()} has made. Where a sample is followed by a block marked {@code text}, it must print exactly that.
 * A sample with {@code @Test} is a whole class, which JUnit runs.
 */
class SamplesTest {
  private static final List<String> DOCUMENTS = List.of("java/README.md", "docs/java.md", "docs/testing.md");

  /** They need none. */
  private static final Set<String> WITHOUT_STORE = Set.of("docs/testing.md");

  /** A fenced block, and whether a text block follows it with nothing but white space between. */
  private static final Pattern BLOCK =
      Pattern.compile("^```(\\w+)\\n(.*?)^```$(?:\\s*^```text\\n(.*?)^```$)?", Pattern.DOTALL | Pattern.MULTILINE);

  @TempDir Path folder;

  private record Sample(String document, String name, String code, String toml, String output) {
    boolean makesTheStore() {
      return code.contains(".createStore()");
    }
  }

  /** By document: a folder in which its store has been made. */
  private final Map<String, Path> stores = new HashMap<>();

  @TestFactory
  Stream<DynamicTest> everySampleOfTheDocumentationRuns() throws Exception {
    var samples = new ArrayList<Sample>();
    for (String document : DOCUMENTS) {
      var found = samplesOf(document);
      var setup = found.stream().filter(Sample::makesTheStore).findFirst();
      assertTrue(setup.isPresent() || WITHOUT_STORE.contains(document), document + " makes no store");
      if (setup.isPresent()) {
        stores.put(document, Files.createDirectories(folder.resolve("store of " + document)));
        run(setup.get(), stores.get(document));
      }
      samples.addAll(found);
    }
    return samples.stream().map(sample -> DynamicTest.dynamicTest(sample.name(), () -> runBesideItsStore(sample)));
  }

  private static List<Sample> samplesOf(String document) throws IOException {
    var samples = new ArrayList<Sample>();
    String text = Files.readString(Vectors.REPOSITORY.resolve(document));
    String toml = "";
    var block = BLOCK.matcher(text);
    while (block.find()) {
      if (block.group(1).equals("toml") && toml.isEmpty()) toml = block.group(2);
      if (!block.group(1).equals("java")) continue;
      long line = text.substring(0, block.start()).lines().count() + 1;
      samples.add(new Sample(document, document + " line " + line, block.group(2), toml, block.group(3)));
    }
    return samples;
  }

  /** The sample that makes the store finds an existing one: making it again changes nothing. */
  private void runBesideItsStore(Sample sample) throws Exception {
    Path place = Files.createDirectories(folder.resolve(sample.name().replaceAll("\\W+", "-")));
    if (stores.containsKey(sample.document())) {
      for (String file : List.of("ids.db", "ids.db-lock")) {
        Files.copy(stores.get(sample.document()).resolve(file), place.resolve(file));
      }
    }
    if (sample.code().contains("@Test")) {
      runTests(sample, place);
    } else {
      run(sample, place);
    }
  }

  /** A sample that is a class of tests, as JUnit runs it. */
  private static void runTests(Sample sample, Path place) throws Exception {
    var name = Pattern.compile("^class (\\w+)", Pattern.MULTILINE).matcher(sample.code());
    assertTrue(name.find(), "there is no class");
    Path source = Files.writeString(place.resolve(name.group(1) + ".java"), sample.code());
    String classPath = System.getProperty("java.class.path");
    Compiler.compile(place, List.of("-cp", classPath), source);
    try (var loader = new URLClassLoader(new URL[] {place.toUri().toURL()}, SamplesTest.class.getClassLoader())) {
      var summary = RunTests.run(loader.loadClass(name.group(1)));
      summary.getFailures().forEach(failure -> fail(failure.getException()));
      assertEquals(sample.code().split("@Test", -1).length - 1, summary.getTestsSucceededCount());
    }
  }

  private static void run(Sample sample, Path place) throws Exception {
    Files.writeString(place.resolve("idgen.toml"), sample.toml());
    Path source = Files.writeString(place.resolve("Sample.java"), program(sample.code()));
    Compiler.compile(place, List.of("-cp", ChildJvm.CLASSES.toString()), source);
    var run = ChildJvm.run(place, "-D" + NativeLoader.PATH_PROPERTY + "=" + ChildJvm.LIBRARY, "-cp",
        ChildJvm.CLASSES + File.pathSeparator + place, "Sample");
    assertEquals(0, run.status(), run::out);
    if (sample.output() != null) assertEquals(sample.output(), run.out());
  }

  private static String program(String code) {
    var imports = new StringBuilder("import dev.idgen.*;\n");
    var body = new StringBuilder();
    for (String line : code.lines().toList()) (line.startsWith("import ") ? imports : body).append(line).append('\n');
    return imports + "public class Sample {\npublic static void main(String[] arguments) throws Exception {\n" + body
        + "}\n}\n";
  }
}
