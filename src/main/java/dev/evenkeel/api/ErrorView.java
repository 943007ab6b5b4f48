package dev.evenkeel.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Why a request has failed.
 *
 * @param error a word for programs. Later versions may add words
 * @param message one line for people: what was wrong, and what would be right
 * @param results only if one of many sent messages failed: the result of each, in order
 */
public record ErrorView(
    String error, String message, @LeftOut @Nullable List<SendResult> results) {}
