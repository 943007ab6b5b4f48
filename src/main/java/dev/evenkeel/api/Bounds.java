package dev.evenkeel.api;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The least and the greatest value of a whole number, or of each number in a map; of a text, the
 * greatest is that of its length.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Bounds {
  /** Least value. */
  long min() default Long.MIN_VALUE;

  /** Greatest value. */
  long max() default Long.MAX_VALUE;
}
