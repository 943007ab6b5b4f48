/**
 * Who may do what: users with their permissions, the rules for each request that reaches a node
 * from outside, and the audit log. The rules are functions of a principal and a request; {@code
 * Access} reads the users and keeps them up to date.
 */
package dev.evenkeel.gateway.access;
