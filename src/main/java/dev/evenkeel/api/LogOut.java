package dev.evenkeel.api;

/** Removes the cookie. */
public record LogOut() {}
