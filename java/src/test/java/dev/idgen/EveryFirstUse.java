package dev.idgen;

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Makes each call of the package's public classes that needs no object of theirs, twice, and prints what it throws. For
 * a JVM whose library cannot be loaded: then each must say why. Calls that need no library throw nothing, and are not
 * printed; one that fails in any other way ends the program.
 */
final class EveryFirstUse {
  private EveryFirstUse() {}

  /** Where an argument that is made up is refused before the library is asked. */
  private static final Set<String> OTHER_REFUSALS = Set.of("WideId.of");

  /** Objects that can be had without the library. */
  private static final Map<Class<?>, Object> OBJECTS =
      Map.of(IdText.class, IdText.HEX, StoreAdmin.class, Generator.builder().admin());

  public static void main(String[] arguments) throws Exception {
    if (Boolean.getBoolean("test.refused")) refuse();
    for (String name : classes()) {
      Class<?> type = Class.forName(name);
      boolean isBuilder = type.isAssignableFrom(Generator.Builder.class); // the class, or one that it inherits from
      if (!Modifier.isPublic(type.getModifiers()) && !isBuilder) continue;
      var calls = new ArrayList<Executable>(List.of(type.getDeclaredMethods()));
      if (!Modifier.isAbstract(type.getModifiers())) calls.addAll(List.of(type.getDeclaredConstructors()));
      for (Executable call : calls) {
        if (!Modifier.isPublic(call.getModifiers())) continue;
        boolean needsNoObject = call instanceof Constructor || Modifier.isStatic(call.getModifiers());
        Object of = isBuilder ? Generator.builder() : OBJECTS.get(type);
        if (!needsNoObject && of == null) continue;
        for (int time = 0; time < 2; time++) tryOut(call, type, of);
      }
    }
  }

  private static void tryOut(Executable call, Class<?> type, Object of) throws Exception {
    String name = type.getSimpleName() + "." + call.getName();
    try {
      Object[] arguments = new Object[call.getParameterCount()];
      for (int i = 0; i < arguments.length; i++) arguments[i] = madeUp(call.getParameterTypes()[i]);
      if (call instanceof Constructor<?> constructor) {
        constructor.newInstance(arguments);
      } else {
        ((Method) call).invoke(of, arguments);
      }
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof UnsatisfiedLinkError failure) {
        System.out.println("use of " + name + ": UnsatisfiedLinkError: " + failure.getMessage());
      } else if (!(e.getCause() instanceof RuntimeException) || e.getCause() instanceof IdgenException) {
        throw new AssertionError(name, e.getCause());
      } else if (!OTHER_REFUSALS.contains(name)
          && !name.endsWith(".valueOf")
          && !(e.getCause() instanceof NullPointerException)) {
        throw new AssertionError(name, e.getCause());
      }
    }
  }

  /** Null where no object can be had without the library. */
  private static Object madeUp(Class<?> type) {
    if (type == int.class) return 1;
    if (type == long.class) return 1L;
    if (type == double.class) return 0.5;
    if (type == boolean.class) return true;
    if (type == String.class) return "text";
    if (type == Path.class) return Path.of("none.toml");
    if (type == Map.class) return Map.of();
    if (type == List.class) return List.of();
    if (type == Instant.class) return Instant.EPOCH;
    if (type == Duration.class) return Duration.ofSeconds(1);
    if (type == UUID.class) return new UUID(1, 2);
    if (type == UUID[].class) return new UUID[1];
    if (type == byte[].class) return new byte[16];
    if (type == Generator[].class) return new Generator[0];
    if (type == Router.Options.class) return new Router.Options();
    if (type == Standard.class) return Standard.ULID;
    if (type == WideId.class) return WideId.of(1);
    return null;
  }

  /** As if the library had another version: loaded, but refused. */
  private static void refuse() throws Exception {
    IdgenJNI.initialize();
    var failure = NativeLoader.class.getDeclaredField("failure");
    failure.setAccessible(true);
    failure.set(null, new UnsatisfiedLinkError("idgen: refused by a test"));
  }

  private static List<String> classes() throws Exception {
    URI code = NativeLoader.class.getProtectionDomain().getCodeSource().getLocation().toURI();
    var names = new ArrayList<String>();
    for (String folder : List.of("dev/idgen", "dev/idgen/testing")) {
      try (var files = Files.list(Path.of(code).resolve(folder))) {
        files
            .map(file -> file.getFileName().toString())
            .filter(file -> file.endsWith(".class") && !file.equals("package-info.class"))
            .forEach(file -> names.add((folder + "/" + file).replace(".class", "").replace('/', '.')));
      }
    }
    names.sort(null);
    return names;
  }
}
