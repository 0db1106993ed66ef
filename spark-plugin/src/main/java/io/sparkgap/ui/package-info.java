/**
 * The tab "Sparkgap" of Spark's web UI, of a running application and in the history server, and
 * what it is made from: events in Spark's event log. Loaded only where Spark has a UI.
 */
package io.sparkgap.ui;
