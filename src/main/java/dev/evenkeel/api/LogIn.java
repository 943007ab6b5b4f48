package dev.evenkeel.api;

/**
 * Logs a browser in: puts the id of a log-in, which ends after some hours, into a cookie. If the
 * cluster has users, the token must be valid.
 *
 * @param token as 'user add' prints it, or of the identity provider
 */
@Body("NewSession")
public record LogIn(String token) {}
