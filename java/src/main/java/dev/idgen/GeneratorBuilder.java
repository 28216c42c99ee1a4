package dev.idgen;

import dev.idgen.internal.Kit;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.LongFunction;
import java.util.function.Supplier;

/**
 * What {@link Generator.Builder} does besides setting properties: it loads a file, takes objects of the program, and
 * builds. Javadoc shows these methods as those of {@code Generator.Builder}.
 */
abstract sealed class GeneratorBuilder extends PropertySetters permits Generator.Builder {
  static {
    Kit.kit = new KitOfNatives();
  }

  final Configuration configuration;
  private BiConsumer<System.Logger.Level, String> log;
  private InstantSource clock;

  GeneratorBuilder() {
    configuration = new Configuration();
  }

  GeneratorBuilder(GeneratorBuilder other) {
    configuration = new Configuration(other.configuration);
    log = other.log;
    clock = other.clock;
  }

  private Generator.Builder self() {
    return (Generator.Builder) this;
  }

  /** {@return a separate builder with all that was set here} */
  public Generator.Builder copy() {
    return new Generator.Builder(this);
  }

  /**
   * Starts from a table of a configuration file. Properties set on this builder override it, whenever they are set.
   *
   * @param toml the file
   * @param name the table; also becomes the generator's name
   * @return this
   */
  public Generator.Builder load(Path toml, String name) {
    configuration.load(Objects.requireNonNull(toml, "toml"), name);
    return self();
  }

  /**
   * Starts from the environment, without a file: {@code IDGEN_ORDERS_STORE} is {@code store} of {@code orders}.
   * ({@link #load} reads it too, and it overrides the file.) Properties set on this builder override it, whenever
   * they are set.
   *
   * @param name becomes the generator's name
   * @return this
   */
  public Generator.Builder loadEnvironment(String name) {
    configuration.load(null, name);
    return self();
  }

  /**
   * Sets any property by its key.
   *
   * @param key such as {@code "segment.step"}
   * @param value as in a configuration file, without quotes: {@code "10s"}, {@code "true"}, {@code "sqlite:ids.db"}
   * @return this
   */
  @Override
  public Generator.Builder set(String key, String value) {
    configuration.set(key, value);
    return self();
  }

  /**
   * A log for what an operator wants to know: a clock set back, a store that fails and comes back.
   *
   * <pre>{@code
   * builder.log(System.getLogger("idgen")::log)
   * }</pre>
   *
   * <p>Called from any thread, the library's own included, and from several at once, but never on the fast path. It
   * must not call the generator. What it throws goes to the thread's handler of uncaught exceptions. A log that
   * refers to the generator keeps it from the garbage collector until {@link Generator#close()} is called.
   *
   * @param log takes INFO, WARNING or ERROR, and a message
   * @return this
   */
  public Generator.Builder log(BiConsumer<System.Logger.Level, String> log) {
    this.log = Objects.requireNonNull(log, "log");
    return self();
  }

  /**
   * A clock in place of the system's: for tests, and for programs that discipline their own. A {@link
   * java.time.Clock} is one. If it is a {@link WaitingClock}, it says how to wait for it; otherwise waits take real
   * time.
   *
   * <p>Called for every id of a snowflake, which costs a call back into Java each time, from any thread, and from
   * several at once. It must not call the generator. What it throws goes to the thread's handler of uncaught
   * exceptions, and the clock stands still for that call; what it throws when it is read for the first time is thrown
   * by {@link #build()}.
   *
   * <p>Generators with a clock of the program are never configured alike, even with the same one: each build makes a
   * separate generator, and a second one on a snowflake worker is refused.
   *
   * @param clock the clock
   * @return this
   */
  public Generator.Builder clock(InstantSource clock) {
    this.clock = Objects.requireNonNull(clock, "clock");
    return self();
  }

  @Override
  public Generator.Builder store(String value) {
    configuration.ownStore = null;
    return super.store(value);
  }

  /**
   * A store of the program's own, in place of one that the library opens. It is for {@code kind("segment")}; a {@link
   * WorkerStore} is for {@code kind("snowflake")} too.
   *
   * @param store the store
   * @return this
   */
  public Generator.Builder store(Store store) {
    configuration.ownStore = Objects.requireNonNull(store, "store");
    return self();
  }

  /**
   * A store over connections of the program's own, in place of one that the library opens.
   *
   * @param store the store
   * @return this
   */
  public Generator.Builder store(SqlStore store) {
    configuration.ownStore = store.pool;
    return self();
  }

  @Override
  public Generator.Builder cipherKey(String value) {
    configuration.ownKeys = null;
    return super.cipherKey(value);
  }

  /**
   * Keys of the program's own for hidden ids, in place of {@link #cipherKey}: from a key service, for one. Called
   * when a cipher is made, and by {@link IdCipher#reload()}, on the calling thread; what it throws is thrown there.
   *
   * @param keys gives all key versions
   * @return this
   */
  public Generator.Builder keys(Supplier<? extends Collection<IdKey>> keys) {
    configuration.ownKeys = Objects.requireNonNull(keys, "keys");
    return self();
  }

  /**
   * Checks the whole configuration, opens the store and takes the first reservation. May wait for the store. The
   * builder can be used again.
   *
   * @return a generator
   * @throws ConfigException if a key is unknown (the message names the nearest), a value is not allowed (it names the
   *     range), or the layout does not add up
   * @throws WorkerBusyException if another generator owns the worker
   * @throws StoreException if the store cannot be used
   * @throws CancelledException if the thread was interrupted during a wait; nothing was opened
   */
  public Generator build() {
    return build(configuration.storeSink(), config -> clock);
  }

  /** {@code clockOf} is given the library's configuration when all else was set. */
  final Generator build(HostSink storeSink, LongFunction<InstantSource> clockOf) {
    var logSink = log == null ? null : new LogSink(log);
    return configuration.with(
        storeSink,
        config -> {
          if (logSink != null) IdgenJNI.configSetLog(config, logSink);
          var used = clockOf.apply(config);
          var clockSink = used == null ? null : new ClockSink(used);
          if (clockSink != null) IdgenJNI.configSetClock(config, clockSink);
          return new Generator(IdgenJNI.create(config), config, logSink, storeSink, clockSink);
        });
  }

  /**
   * A generator of this configuration, as it is now, that its first use builds. Opens nothing, reads nothing, cannot
   * fail. Waits up to a minute for a store that is down.
   *
   * @return a generator that is not open yet
   */
  public LazyGenerator buildLazy() {
    return buildLazy(Duration.ofMinutes(1));
  }

  /**
   * {@return a generator of this configuration, as it is now, that its first use builds}
   *
   * @param openWait how long opening tries again after an error that is {@link IdgenException#retryable()}: the store
   *     is down, or another process still holds the worker
   */
  public LazyGenerator buildLazy(Duration openWait) {
    GeneratorBuilder copy = copy();
    return new LazyGenerator(copy.configuration.subject(), openWait, copy::buildIn);
  }

  private Generator buildIn(LazyGenerator.Opening opening) {
    GeneratorBuilder guarded = copy();
    if (log != null) guarded.log = opening.guarded(log);
    if (clock != null) guarded.clock = opening.guarded(clock);
    Object ownStore = configuration.ownStore;
    if (ownStore != null) guarded.configuration.ownStore = opening.guarded(ownStore);
    return guarded.build();
  }

  /**
   * Makes a cipher for hidden ids: reads the keys, and compares them with what the store has. Reads {@code layout},
   * {@code namespace}, {@code store} and {@code cipher.*} of this configuration. May wait for the store.
   *
   * @return a cipher
   * @throws ConfigException if the keys cannot be used (status {@link Status#CONFIG_FILE}: missing, malformed,
   *     readable by others); if the layout has no such key version; if the module {@code libidgen_cipher.so} is
   *     missing ({@link Status#UNSUPPORTED}, see {@link #modulePath})
   * @throws StoreException if the namespace began with another key by the same number (status {@link
   *     Status#FORMAT_MISMATCH}), or the store cannot be used
   */
  public IdCipher buildCipher() {
    return configuration.with(config -> new IdCipher(IdgenJNI.cipherCreate(config)));
  }

  /**
   * What {@link IdCipher#describe()} of such a cipher would say. Compares the keys with the store, and writes
   * nothing. May wait for the store.
   *
   * @return one item per line
   * @throws ConfigException as {@link #buildCipher()}
   * @throws StoreException as {@link #buildCipher()}
   */
  public String checkKeys() {
    return configuration.with(config -> Text.string(IdgenJNI.cipherCheck(config)));
  }

  /**
   * Makes the pattern that a generator of this configuration has, without the generator. Reads {@code pattern},
   * {@code zone}, {@code kind}, {@code layout}, {@code epoch} and {@code module.path} of this configuration.
   *
   * @return a pattern
   * @throws ConfigException as {@link TextPattern#of(String, String, Layout)}
   */
  public TextPattern buildTextPattern() {
    return configuration.with(TextPattern::of);
  }

  /**
   * Creates, shows and changes the store of this configuration, as it is now, and its tags. Opens nothing, reads
   * nothing, cannot fail.
   *
   * @return the administration of the store
   */
  public StoreAdmin admin() {
    return new StoreAdmin(new Configuration(configuration));
  }
}
