package dev.idgen;

import java.io.Serial;

/** The call or the configuration is wrong (statuses 1 to 19). Retrying cannot help. */
public final class ConfigException extends IdgenException {
  @Serial private static final long serialVersionUID = 1;

  ConfigException(Failure failure) {
    super(failure);
  }
}
