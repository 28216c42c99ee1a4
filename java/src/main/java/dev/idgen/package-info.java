/**
 * Unique, ordered ids, made inside your process. Start with {@link dev.idgen.Generator}.
 *
 * <pre>{@code
 * try (var orders = Generator.open(Path.of("idgen.toml"), "orders")) {
 *   long id = orders.next();
 * }
 * }</pre>
 *
 * <p>The package is a thin layer over {@code libidgen.so}: the same configuration, ids, statuses and messages as in C,
 * Python and Go. The jar carries the library for its platform; {@link dev.idgen.Idgen} says where it is looked for.
 *
 * <p>Ids are 64-bit. All presets except the unsigned ones ({@code discord}, {@code instagram}, {@code mastodon}) keep
 * the top bit clear, so their ids are positive {@code long}s. Print the others with {@link
 * java.lang.Long#toUnsignedString(long)} and compare them with {@link java.lang.Long#compareUnsigned(long, long)}.
 *
 * <p>{@link dev.idgen.StandardIds} makes UUIDs, ULIDs and ObjectIds, without a generator.
 *
 * <p>Passing {@code null} throws {@link java.lang.NullPointerException}, except where it is documented as allowed.
 */
package dev.idgen;
