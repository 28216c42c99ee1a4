package dev.idgen;

/** A program like a user's: draws one id and prints where the library came from. */
final class Draw {
  private Draw() {}

  public static void main(String[] arguments) {
    String store = System.getProperty("test.store", "memory");
    try (var ids = Generator.builder().kind("segment").store(store).storeCreate(true).build()) {
      System.out.println(ids.next() + " from " + Idgen.libraryPath());
    }
  }
}
