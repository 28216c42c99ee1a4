package dev.idgen;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/** An application server that deploys an application with the jar again and again, each time in a class loader. */
final class Redeploy {
  private Redeploy() {}

  /** The folder or jar with our classes, and how many deployments. */
  public static void main(String[] arguments) throws Exception {
    URL[] classes = {Path.of(arguments[0]).toUri().toURL()};
    int most = Integer.parseInt(arguments[1]);
    for (int deployment = 1; deployment <= most; deployment++) {
      try (var loader = new URLClassLoader(classes, ClassLoader.getPlatformClassLoader())) {
        Class<?> generator = loader.loadClass("dev.idgen.Generator");
        Object builder = generator.getMethod("builder").invoke(null);
        Class<?> type = builder.getClass();
        type.getMethod("store", String.class).invoke(builder, "memory");
        type.getMethod("worker", long.class).invoke(builder, 1L);
        Object made = type.getMethod("build").invoke(builder);
        generator.getMethod("next").invoke(made);
        generator.getMethod("close").invoke(made);
      }
    }
    System.out.println(most + " deployments");
  }
}
