//go:build peers

package feed

import "github.com/courant-platform/courant"

// ReadRaw is Read without cleaning the HTML of items, for the comparison with other
// readers in test/bench/peers/reader. It exists only with the build tag peers.
func ReadRaw(body []byte, opt Options) (*courant.Reading, error) { return read(body, opt, true) }
