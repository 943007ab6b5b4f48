package dev.evenkeel.api;

/** Ends the log-in, and removes the cookie. */
public record LogOut() {}
