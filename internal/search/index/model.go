package index

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/gbdt"
	"github.com/courant-platform/courant/internal/search/shard"
)

//go:embed model.json.gz
var builtInModel []byte

// modelText reads the ranking model: that of a file, the built-in one for "" (see
// docs/search.md for its origin), or nil for "none".
func modelText(path string) ([]byte, error) {
	switch path {
	case "none":
		return nil, nil
	case "":
		r, err := gzip.NewReader(bytes.NewReader(builtInModel))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "index.model: %w", err)
	}
	return text, nil
}

// openModel parses a model; nil if text is nil.
func openModel(c Config, text []byte) (*shard.Model, error) {
	if text == nil {
		return nil, nil
	}
	m, err := gbdt.Read(text)
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "index.model: %s: %w", c.Model, err)
	}
	model, err := shard.NewModel(cmp.Or(c.Model, "built-in"), m, c.Signals)
	if err != nil {
		return nil, fmt.Errorf("index.model: %w", err)
	}
	return model, nil
}

// layout is the version of how shards treat documents and queries: how they split words,
// which features they compute, how they rank, and which shard a document belongs to.
const layout = 2

// engine identifies everything that two indexes must have in common for their scores to
// be comparable.
func engine(shards int, signals []string, model, categories []byte) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %q %x %x", layout, shards, signals, sha256.Sum256(model), categories))
	return hex.EncodeToString(sum[:8])
}
