package dev.idgen;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.LongFunction;
import java.util.function.Supplier;

/** What a {@link Generator.Builder} was given, and how the library gets it. */
final class Configuration {
  /** Where programs that share this class have their drivers: the library opens stores on threads of its own. */
  static final Set<ClassLoader> CALLERS = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  final Map<String, String> properties = new LinkedHashMap<>();
  private Path toml;
  private String section;

  /** A Store, or the SqlSink.Pool of a SqlStore. Null: the property decides. */
  Object ownStore;

  /** Null: the property decides. */
  Supplier<? extends Collection<IdKey>> ownKeys;

  Configuration() {}

  Configuration(Configuration other) {
    properties.putAll(other.properties);
    toml = other.toml;
    section = other.section;
    ownStore = other.ownStore;
    ownKeys = other.ownKeys;
  }

  void set(String key, String value) {
    properties.put(Objects.requireNonNull(key, "key"), Objects.requireNonNull(value, "value"));
  }

  /** {@code toml} is null for the environment alone. */
  void load(Path toml, String section) {
    this.toml = toml;
    this.section = Objects.requireNonNull(section, "name");
  }

  HostSink storeSink() {
    if (ownStore instanceof SqlSink.Pool pool) return new SqlSink(pool);
    return ownStore == null ? null : new StoreSink((Store) ownStore);
  }

  /** Says which generator it is, without what may hold a password. */
  String subject() {
    if (toml != null) return section + " of " + toml;
    var shown = new ArrayList<String>();
    for (String key : List.of("name", "kind", "tag")) {
      if (properties.containsKey(key)) shown.add(key + "=" + properties.get(key));
    }
    return shown.isEmpty() ? "kind=snowflake" : String.join(" ", shown);
  }

  /** Makes the library's form of it, which lasts as long as the call. */
  <T> T with(LongFunction<T> use) {
    return with(storeSink(), use);
  }

  <T> T with(HostSink store, LongFunction<T> use) {
    NativeLoader.require();
    CALLERS.add(Thread.currentThread().getContextClassLoader());
    var out = new long[1];
    IdgenJNI.idgen_config_create(out);
    long config = out[0];
    try {
      if (toml != null) {
        IdgenJNI.idgen_config_load(config, Text.utf8(toml.toString()), Text.utf8(section));
      } else if (section != null) {
        IdgenJNI.idgen_config_load_environment(config, Text.utf8(section));
      }
      properties.forEach((key, value) -> IdgenJNI.idgen_config_set(config, Text.utf8(key), Text.utf8(value)));
      if (store != null) store.giveTo(config);
      if (ownKeys != null) IdgenJNI.configSetKeys(config, new KeySink(ownKeys));
      return use.apply(config);
    } finally {
      IdgenJNI.idgen_config_destroy(config);
    }
  }
}
