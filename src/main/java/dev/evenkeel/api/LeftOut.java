package dev.evenkeel.api;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The field is left out if it says nothing: if it is null, false, 0 or empty. Whoever reads a
 * record without the field gets that value.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface LeftOut {}
