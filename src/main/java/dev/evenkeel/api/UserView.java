package dev.evenkeel.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A user.
 *
 * @param user null if the cluster has no users
 * @param may such as produce:orders
 */
public record UserView(@Nullable String user, @LeftOut @Nullable List<String> may) {}
