package dev.evenkeel.gateway.access.oidc;

import dev.evenkeel.api.Permission;
import java.util.List;

/**
 * A user of the identity provider.
 *
 * @param name begins with {@link OidcNames#PREFIX}
 */
public record OidcUser(String name, List<Permission> may) {}
