/**
 * Quotas on a node. {@code RateReservations} is the one place in the cluster that gives out time;
 * {@code QuotaGate} makes appends wait, each sender for its own, and {@code GroupDebts} makes
 * fetches wait.
 */
@NullMarked
package dev.evenkeel.broker.quota;

import org.jspecify.annotations.NullMarked;
