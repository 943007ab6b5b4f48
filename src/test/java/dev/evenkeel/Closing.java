package dev.evenkeel;

import io.vertx.core.Future;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * What a test closes at its end by calling {@code close()}, the field that is declared last first,
 * and what a class of tests closes where the field is static. It waits for what takes a future to
 * close. A field that is null is passed over.
 */
@Target(ElementType.FIELD)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(Closing.Closer.class)
public @interface Closing {
  /** Closes the fields. */
  final class Closer implements AfterEachCallback, AfterAllCallback {
    @Override
    public void afterEach(ExtensionContext context) throws Exception {
      close(context.getRequiredTestClass(), context.getRequiredTestInstance());
    }

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
      close(context.getRequiredTestClass(), null);
    }

    private static void close(Class<?> type, Object test) throws Exception {
      Field[] fields = type.getDeclaredFields();
      for (int i = fields.length - 1; i >= 0; i--) {
        boolean ofTheClass = Modifier.isStatic(fields[i].getModifiers());
        if (fields[i].isAnnotationPresent(Closing.class) && ofTheClass == (test == null)) {
          fields[i].setAccessible(true);
          close(fields[i].get(test));
        }
      }
      if (type.getSuperclass() != null) {
        close(type.getSuperclass(), test);
      }
    }

    private static void close(Object open) throws Exception {
      if (open instanceof AutoCloseable closeable) {
        closeable.close();
      } else if (open != null && call(open) instanceof Future<?> closed) {
        Futures.await(closed);
      }
    }

    private static Object call(Object open) throws Exception {
      try {
        Method close = method(open.getClass());
        close.setAccessible(true);
        return close.invoke(open);
      } catch (InvocationTargetException e) {
        throw e.getCause() instanceof Exception cause ? cause : e;
      }
    }

    private static Method method(Class<?> type) throws NoSuchMethodException {
      try {
        return type.getDeclaredMethod("close");
      } catch (NoSuchMethodException e) {
        if (type.getSuperclass() == null) {
          throw e;
        }
        return method(type.getSuperclass());
      }
    }
  }
}
