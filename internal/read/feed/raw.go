//go:build peers

package feed

import "github.com/courant-platform/courant"

// ReadRaw is Read with the HTML of items as it came, for comparison with readers
// that do not clean: test/bench/peers/reader. No other build has it.
func ReadRaw(body []byte, opt Options) (*courant.Reading, error) { return read(body, opt, true) }
