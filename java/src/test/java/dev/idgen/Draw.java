package dev.idgen;

/** A program like a user's: draws one id and prints where the library came from. */
final class Draw {
  private Draw() {}

  public static void main(String[] arguments) {
    String store = System.getProperty("test.store", "memory");
    var builder = Generator.builder().kind("segment").store(store).storeCreate(true);
    String name = System.getProperty("test.environment");
    if (name != null) builder = Generator.builder().loadEnvironment(name);
    try (var ids = builder.build()) {
      System.out.println(ids.next() + " from " + Idgen.libraryPath());
    }
  }
}
