// Package table gives the rows that several units share, each statement once: the
// downloads that wait to be read and their log, the change feed with its bounds,
// stored pictures, the bodies of pages, documents that are rendered once more.
package table

// Never is when something is due that is not done any more: the end of the year
// 9999, in milliseconds since 1970.
const Never = 253402300799000
