package dev.idgen;

import java.io.Serial;

/** A call or a configuration that is wrong in itself (statuses 1 to 19): trying again cannot help. */
public final class ConfigException extends IdgenException {
  @Serial private static final long serialVersionUID = 1;

  ConfigException(Failure failure) {
    super(failure);
  }
}
