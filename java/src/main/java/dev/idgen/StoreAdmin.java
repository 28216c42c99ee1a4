package dev.idgen;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ObjLongConsumer;

/**
 * Creates a store and its tags, and shows and changes them: for setup and for operators, not for drawing ids. Each
 * method opens the store of the configuration, without a generator. Any number of threads may call any method.
 *
 * <pre>{@code
 * var admin = Generator.builder().store("sqlite:ids.db").tag("orders").admin();
 * admin.createSegment();
 * System.out.println(admin.showSegment().maxId());
 * }</pre>
 *
 * <p>It refuses a {@link Store} of the program (status {@link Status#UNSUPPORTED}).
 */
public final class StoreAdmin {
  private final Configuration configuration;

  StoreAdmin(Configuration configuration) {
    this.configuration = configuration;
  }

  /**
   * Makes the store if it is missing, without a tag: all that snowflakes need. An existing store is left as it is.
   * Works for {@code sqlite:}, and for {@code memory}, where there is nothing to make. Call it once, at setup, and
   * leave {@code store_create} off: a lost store is then an error. May wait for the store. Reads {@code store}, {@code
   * directory} and {@code store_timeout} of the configuration.
   *
   * @throws StoreException if the store is lost: its lock file exists without the database (status {@link
   *     Status#STORE_MISSING}); if an older copy replaced it ({@link Status#STORE_REGRESSED}); if it cannot be made
   * @throws ConfigException for a buffer, which is made with its first tag, and for a store of the program's own
   *     (status {@link Status#UNSUPPORTED}); if a property of the configuration cannot be used
   */
  public void createStore() {
    configuration.with(
        config -> {
          IdgenJNI.idgen_store_create(config);
          return null;
        });
  }

  /**
   * Makes the tag at 0, so that its first id is 1, and the store if it is missing. May wait for the store. Reads
   * {@code store}, {@code namespace}, {@code tag} and {@code directory} of the configuration.
   *
   * @throws StoreException (status {@link Status#TAG_EXISTS}) if the tag already exists
   */
  public void createSegment() {
    createSegment(0);
  }

  /**
   * As {@link #createSegment()}, with the first id above a number, in one step: a tag that takes over ids which are
   * in use can at no moment issue a lower one.
   *
   * @param above the number
   * @throws StoreException (status {@link Status#TAG_EXISTS}) if the tag already exists
   * @throws ConfigException (status {@link Status#VALUE}) if it is negative; (status {@link Status#UNSUPPORTED}) for
   *     serials in rows of other programs, unless it is 0
   */
  public void createSegment(long above) {
    configuration.with(
        config -> {
          IdgenJNI.idgen_segment_create_above(config, above);
          return null;
        });
  }

  /**
   * A tag's counter in the store. May wait for the store.
   *
   * @return how it stands
   * @throws StoreException if the store or the tag does not exist
   */
  public SegmentInfo showSegment() {
    return segment((parts, config) -> IdgenJNI.idgen_segment_show(config, parts));
  }

  /**
   * All tags of all namespaces of the store, in the order of their names. May wait for the store. Reads {@code store}
   * and {@code directory} of the configuration.
   *
   * @return a row for each tag
   * @throws StoreException if the store does not exist
   */
  public List<SegmentRow> listSegments() {
    return configuration.with(
        config -> {
          var rows = new ArrayList<Object[]>();
          IdgenJNI.segmentList(config, rows);
          return rows.stream().map(SegmentRow::of).toList();
        });
  }

  /**
   * Raises a tag's counter to a number that is in use, or by 1 if it is already there; never lowers it. Running
   * generators still issue what they reserved before. May wait for the store.
   *
   * @param to the number
   * @return how the counter stands now
   * @throws StoreException if the store or the tag does not exist
   */
  public SegmentInfo advanceSegment(long to) {
    return segment((parts, config) -> IdgenJNI.idgen_segment_advance(config, to, parts));
  }

  /**
   * Ends a tag: takes all numbers that are left, so that no generator draws from it again. Running generators still
   * issue what they reserved before, then get an {@link ExhaustedException}. Cannot be undone. May wait for the store,
   * and tries for {@code wait_max} while other processes draw.
   *
   * @return how the counter stood before. No granted number is above its {@code maxId}; if another store takes over the
   *     tag, create it there above that number
   * @throws StoreException if the store or the tag does not exist, or if other processes drew without a pause; the tag
   *     is then not retired
   * @throws ExhaustedException if it has no numbers left
   */
  public SegmentInfo retireSegment() {
    return segment((parts, config) -> IdgenJNI.idgen_segment_retire(config, parts));
  }

  /**
   * Sets how many numbers all generators of a tag reserve at once, from their next range on. May wait for the store.
   *
   * @param step the number; 0 leaves it to each generator's {@code segment.step}
   * @return how the counter stands now
   * @throws StoreException if the store or the tag does not exist
   * @throws ConfigException if the number is out of range
   */
  public SegmentInfo setSegmentStep(long step) {
    return segment((parts, config) -> IdgenJNI.idgen_segment_set_step(config, step, parts));
  }

  /**
   * The largest number that may be in use of a column of any table in the store's database: in a row, or issued by
   * its AUTO_INCREMENT or sequence to rows that are deleted. A tag that takes over from there begins above it. May
   * wait for the store. Reads {@code store} and {@code module.path} of the configuration.
   *
   * @param table its name, or {@code SCHEMA.TABLE}
   * @param column its column of ids
   * @return 0 to 2^63 - 1; 0 if the column has no number
   * @throws ConfigException if the store is no SQL server (status {@link Status#UNSUPPORTED}); if there is no such
   *     table or column, or its largest number is out of range ({@link Status#VALUE})
   * @throws StoreException if the store cannot be used
   */
  public long segmentMaxOf(String table, String column) {
    return configuration.with(
        config -> {
          var out = new long[1];
          IdgenJNI.idgen_segment_max_of(config, Text.utf8(table), Text.utf8(column), out);
          return out[0];
        });
  }

  /**
   * What {@link #createSegment()} would run, the table's statements included, as SQL or commands for a migration.
   * Reads the same properties. Connects to no server, changes nothing, does not wait.
   *
   * @return the statements; empty if there is nothing to run
   * @throws ConfigException if the store is the program's own, or its module is missing (status {@link
   *     Status#UNSUPPORTED}); if a property of the configuration cannot be used
   */
  public String segmentStatements() {
    return configuration.with(config -> Text.string(IdgenJNI.segmentStatements(config)));
  }

  private SegmentInfo segment(ObjLongConsumer<Object[]> fill) {
    return configuration.with(
        config -> {
          var parts = new Object[SegmentInfo.PARTS];
          fill.accept(parts, config);
          return SegmentInfo.of(parts);
        });
  }
}
