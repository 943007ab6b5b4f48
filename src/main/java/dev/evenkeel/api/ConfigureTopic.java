package dev.evenkeel.api;

/**
 * Changes settings of a topic. Only the settings that the body names change.
 *
 * @param name name of the topic
 */
@Body("TopicSettings")
@NotEmpty
public record ConfigureTopic(String name, @Inline TopicLimits limits) {}
