// Package table holds the statements that several units share: pending downloads
// and their log, the change feed and its bounds, stored pictures, the bodies of
// pages, documents that are rendered again.
package table

// Never is the due time of work that is not to be done any more: the end of the
// year 9999, in milliseconds since 1970.
const Never = 253402300799000
