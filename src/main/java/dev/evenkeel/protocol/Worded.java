package dev.evenkeel.protocol;

/** A constant that people and JSON know by another word than its name. */
public interface Worded {
  String word();
}
