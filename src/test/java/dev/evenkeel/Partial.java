package dev.evenkeel;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** Makes interfaces of which a test needs some methods only. */
public final class Partial {
  private Partial() {}

  /**
   * Calls the methods that {@code some} has, and of the others those that are default methods. Any
   * other call throws an {@link UnsupportedOperationException}.
   */
  public static <T> T of(Class<T> type, Object some) {
    return over(type, null, some);
  }

  /** As {@link #of}, but {@code rest}, unless it is null, gets the calls that would throw. */
  public static <T> T over(Class<T> type, T rest, Object some) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, args) -> {
              if (method.getName().equals("equals")) {
                return self == args[0];
              }
              try {
                return call(self, method, args, rest, some);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }

  private static Object call(Object self, Method method, Object[] args, Object rest, Object some)
      throws Throwable {
    try {
      Method own =
          method.getDeclaringClass() == Object.class
              ? method
              : some.getClass().getDeclaredMethod(method.getName(), method.getParameterTypes());
      own.setAccessible(own != method);
      return own.invoke(some, args);
    } catch (NoSuchMethodException e) {
      if (method.isDefault()) {
        return InvocationHandler.invokeDefault(self, method, args);
      }
      if (rest != null) {
        return method.invoke(rest, args);
      }
      throw new UnsupportedOperationException(method.toString());
    }
  }
}
