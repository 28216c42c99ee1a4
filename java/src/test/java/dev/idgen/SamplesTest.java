package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
 */
class SamplesTest {
  private static final List<String> DOCUMENTS = List.of("java/README.md", "docs/java.md");

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
      assertTrue(setup.isPresent(), document + " makes no store");
      stores.put(document, Files.createDirectories(folder.resolve("store of " + document)));
      run(setup.get(), stores.get(document));
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
    for (String file : List.of("ids.db", "ids.db-lock")) {
      Files.copy(stores.get(sample.document()).resolve(file), place.resolve(file));
    }
    run(sample, place);
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
