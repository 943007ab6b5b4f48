package dev.evenkeel.api;

/**
 * All quotas, by kind and name. Lists the quotas of the topics and groups that the user may see.
 * Those of producers and users need view:*.
 */
public record ListQuotas() {}
