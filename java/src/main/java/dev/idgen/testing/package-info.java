/**
 * Generators for the tests of programs that draw ids.
 *
 * <pre>{@code
 * try (var orders = ScriptedGenerator.segment(1000)) {
 *   var shop = new Shop(orders); // takes an IdSource
 * }
 * }</pre>
 *
 * <p>What is here is the library itself, over a store of its own in memory and a clock that the test sets: ids,
 * decoding and errors are those of production. Each generator starts afresh, and nothing of it is left once it is
 * closed. Needs no framework for tests. {@code docs/testing.md} shows all of it, in three languages.
 */
package dev.idgen.testing;
