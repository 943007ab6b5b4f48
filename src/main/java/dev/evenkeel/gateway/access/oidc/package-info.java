/**
 * Users of an identity provider: {@link dev.evenkeel.gateway.access.oidc.OidcUsers} takes its JSON
 * Web Tokens, and {@link dev.evenkeel.gateway.access.oidc.OidcSettings} says what their claims
 * allow.
 */
package dev.evenkeel.gateway.access.oidc;
