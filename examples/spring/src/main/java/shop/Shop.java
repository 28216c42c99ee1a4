package shop;

import dev.idgen.Generator;
import dev.idgen.LazyGenerator;
import dev.idgen.SqlStore;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.jdbc.DataSourceProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;

@SpringBootApplication
public class Shop {
  public static void main(String[] arguments) {
    SpringApplication.run(Shop.class, arguments);
  }

  /** Opened by the first order, closed by Spring. It connects once for each of its grants, beside the rows' pool. */
  @Bean
  LazyGenerator orderIds(DataSourceProperties database) {
    var connections = database.initializeDataSourceBuilder().type(SimpleDriverDataSource.class).build();
    return Generator.builder().kind("segment").tag("orders").store(new SqlStore(connections)).buildLazy();
  }
}
