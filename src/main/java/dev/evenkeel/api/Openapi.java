package dev.evenkeel.api;

/** This document. */
public record Openapi() {
  /** OpenAPI 3.1. */
  public record Document() {}
}
