// Package pack encodes values and texts for the store: JSON compressed with zstd. Lists
// of packed values that are stored only for a short time are gob.
package pack

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// maxSize is the limit of Open in bytes; nothing that we pack is larger.
const maxSize = 64 << 20

// The coders have no state between calls and are safe for concurrent use.
var (
	encoder    = newEncoder()
	decoder, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxSize), zstd.WithDecoderConcurrency(2))
)

// newEncoder returns an encoder with small tables: a document has a few kilobytes, and
// clearing large tables would cost more than they save. It uses the encoder once, so
// that what it sets up does not belong to the bubble of a test (testing/synctest).
func newEncoder() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2),
		zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(32<<10))
	if err != nil {
		panic(err) // the options are constants
	}
	e.EncodeAll([]byte{0}, nil)
	return e
}

// Encode packs v.
func Encode(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return Bytes(text), nil
}

// Decode unpacks the result of Encode into v.
func Decode(packed []byte, v any) error {
	text, err := Open(packed)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	return nil
}

// EncodeList encodes values whose parts are already packed, without compressing them
// again.
func EncodeList[T any](list []T) ([]byte, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(list); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return b.Bytes(), nil
}

// DecodeList decodes what EncodeList wrote.
func DecodeList[T any](b []byte) (list []T, err error) {
	if err = gob.NewDecoder(bytes.NewReader(b)).Decode(&list); err != nil {
		err = fmt.Errorf("unpack: %w", err)
	}
	return list, err
}

// Bytes packs bytes.
func Bytes(text []byte) []byte { return encoder.EncodeAll(text, nil) }

// Open unpacks bytes.
func Open(packed []byte) ([]byte, error) {
	text, err := decoder.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return text, nil
}
