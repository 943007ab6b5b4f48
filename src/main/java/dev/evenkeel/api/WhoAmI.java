package dev.evenkeel.api;

/** The user that a request comes from. Without users, the user is null. */
public record WhoAmI() {}
