package shop;

import dev.idgen.LazyGenerator;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import org.hibernate.annotations.IdGeneratorType;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.id.IdentifierGenerator;

/** Hibernate asks it for the id of an order before the insert, so inserts can be sent in batches. */
record OrderIds(LazyGenerator ids) implements IdentifierGenerator {
  /** Of the field that is such an id. */
  @IdGeneratorType(OrderIds.class)
  @Retention(RetentionPolicy.RUNTIME)
  @interface Drawn {}

  @Override
  public Object generate(SharedSessionContractImplementor session, Object order) {
    return ids.next();
  }
}
