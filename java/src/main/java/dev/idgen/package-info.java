/**
 * Unique, ordered ids, made inside the process that needs them. Begin with {@link dev.idgen.Generator}.
 *
 * <pre>{@code
 * try (var orders = Generator.open(Path.of("idgen.toml"), "orders")) {
 *   long id = orders.next();
 * }
 * }</pre>
 *
 * <p>The package is a thin face of {@code libidgen.so}: the same configuration, ids, statuses and messages as in C,
 * Python and Go. The jar carries the library for its platform; {@link dev.idgen.Idgen} tells where it is looked for.
 *
 * <p>Ids are 64-bit. All presets but the unsigned ones ({@code discord}, {@code mastodon}) keep the top bit clear, so
 * they are positive {@code long}s; print the others with {@link java.lang.Long#toUnsignedString(long)} and compare them
 * with {@link java.lang.Long#compareUnsigned(long, long)}.
 *
 * <p>Passing {@code null} where it is not said to be allowed throws {@link java.lang.NullPointerException}.
 */
package dev.idgen;
