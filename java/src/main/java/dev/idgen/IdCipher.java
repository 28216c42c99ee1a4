package dev.idgen;

import java.lang.ref.Reference;
import java.nio.file.Path;

/**
 * Gives ids a form that shows neither how many there are nor when they were made: for URLs and order numbers. The plain
 * id stays the key in the database. A hidden id is no permission: check who asks. docs/hidden-ids.md says more.
 *
 * <p>Made by {@link Generator.Builder#buildCipher()} or {@link #open}. Safe for use by many threads. Its keys are wiped
 * after it has become unreachable.
 */
public final class IdCipher {
  private final long handle;

  IdCipher(long handle) {
    this.handle = handle;
    NativeHandle.freeWith(this, handle, IdgenJNI::idgen_cipher_destroy);
  }

  /**
   * {@return a cipher from a table of a configuration file} May wait for the store.
   *
   * @param toml the file
   * @param name the table
   * @throws ConfigException as for {@link Generator.Builder#buildCipher()}
   * @throws StoreException as for {@link Generator.Builder#buildCipher()}
   */
  public static IdCipher open(Path toml, String name) {
    return Generator.builder().load(toml, name).buildCipher();
  }

  /**
   * The hidden form of an id.
   *
   * @param id an id of the layout
   * @return the form to show
   * @throws ConfigException if the id has bits outside the layout, is hidden already, or all key versions are retired;
   *     if the layout has more than 64 bits (status {@link Status#UNSUPPORTED})
   */
  public long hide(long id) {
    return apply(id, false);
  }

  /**
   * {@return the id of a hidden form}
   *
   * @param hidden what {@link #hide} gave
   * @throws ConfigException if it has bits outside the layout, is not hidden, or was hidden by an unknown key version;
   *     if the layout has more than 64 bits (status {@link Status#UNSUPPORTED})
   */
  public long reveal(long hidden) {
    return apply(hidden, true);
  }

  /**
   * Replaces ids by their hidden forms. Several at once take far less time for each.
   *
   * @param ids any number of them
   * @throws ConfigException as {@link #hide}; then none was replaced
   */
  public void hideAll(long[] ids) {
    applyAll(ids, false);
  }

  /**
   * Replaces hidden forms by their ids.
   *
   * @param hidden any number of them
   * @throws ConfigException as {@link #reveal}; then none was replaced
   */
  public void revealAll(long[] hidden) {
    applyAll(hidden, true);
  }

  /**
   * The hidden form of an id of either length, as {@link Generator#nextWideFor(long)} makes it. With the property
   * {@code on_full = widen}, ids of 16 bytes are hidden too.
   *
   * @param id an id of the layout, or of the one that ids are widened to
   * @return the form to show, of as many bytes
   * @throws ConfigException as {@link #hide(long)}, and for a length that ids do not have
   */
  public WideId hide(WideId id) {
    return one(id, false);
  }

  /**
   * {@return the id of a hidden form of either length}
   *
   * @param hidden what {@link #hide(WideId)} gave
   * @throws ConfigException as {@link #reveal(long)}, and for a length that ids do not have
   */
  public WideId reveal(WideId hidden) {
    return one(hidden, true);
  }

  /**
   * {@link #hideAll(long[])} for ids of either length, as {@link #hide(WideId)}.
   *
   * @param ids any number of them
   * @throws ConfigException as {@link #hide(WideId)}; then none was replaced
   */
  public void hideAll(WideId[] ids) {
    applyWide(ids, false);
  }

  /**
   * {@link #revealAll(long[])} for hidden forms of either length.
   *
   * @param hidden any number of them
   * @throws ConfigException as {@link #reveal(WideId)}; then none was replaced
   */
  public void revealAll(WideId[] hidden) {
    applyWide(hidden, true);
  }

  /**
   * Reads the keys again, for a new key version or one that was retired. Other threads go on meanwhile. After an
   * exception the cipher has the keys that it had, except archived ones. May wait for the store.
   *
   * @throws ConfigException as for {@link Generator.Builder#buildCipher()}
   * @throws StoreException as for {@link Generator.Builder#buildCipher()}
   */
  public void reload() {
    try {
      IdgenJNI.idgen_cipher_reload(handle);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * {@return how ids are hidden, which key versions there are, and what is not protected: one item a line, and no key}
   */
  public String describe() {
    try {
      return Text.string(IdgenJNI.cipherDescribe(handle));
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private long apply(long id, boolean reveals) {
    try {
      return IdgenJNI.cipherApply(handle, id, reveals);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private void applyAll(long[] ids, boolean reveals) {
    try {
      if (ids.length > 0) IdgenJNI.cipherApplyAll(handle, ids, reveals);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private WideId one(WideId id, boolean reveals) {
    var ids = new WideId[] {id};
    applyWide(ids, reveals);
    return ids[0];
  }

  private void applyWide(WideId[] ids, boolean reveals) {
    var numbers = new long[Math.multiplyExact(WideId.LONGS, ids.length)];
    for (int index = 0; index < ids.length; index++) ids[index].store(numbers, WideId.LONGS * index);
    try {
      if (ids.length > 0) IdgenJNI.cipherApplyWide(handle, numbers, reveals);
    } finally {
      Reference.reachabilityFence(this);
    }
    for (int index = 0; index < ids.length; index++) ids[index] = WideId.of(numbers, WideId.LONGS * index);
  }
}
