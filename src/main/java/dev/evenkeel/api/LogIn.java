package dev.evenkeel.api;

/**
 * Puts a token into a cookie for a browser. If the cluster has users, the token must be valid.
 *
 * @param token as 'user add' prints it
 */
@Body("NewSession")
public record LogIn(String token) {}
