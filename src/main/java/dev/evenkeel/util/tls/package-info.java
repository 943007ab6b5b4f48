/**
 * Keys and certificates in PEM files, as the JDK's TLS wants them. They can change while they are
 * in use.
 */
package dev.evenkeel.util.tls;
