package dev.idgen;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.concurrent.Callable;
import javax.sql.DataSource;

/** Pools and connections that do what a test says. */
final class Proxies {
  private Proxies() {}

  static <T> T of(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(Proxies.class.getClassLoader(), new Class<?>[] {type}, handler));
  }

  /** What it is asked for is what the call gives. */
  static DataSource pool(Callable<Object> call) {
    return of(DataSource.class, (self, method, arguments) -> call.call());
  }
}
