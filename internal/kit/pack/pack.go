// Package pack is how values and texts lie in the store: JSON in zstd. Lists of
// packed values that do not stay there are gob.
package pack

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// maxSize bounds what Bytes unpacks; nothing that we pack is larger.
const maxSize = 64 << 20

// The coders have no state between calls and may be used by many at once.
var (
	encoder    = newEncoder()
	decoder, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxSize), zstd.WithDecoderConcurrency(2))
)

// newEncoder has small tables, for a document is a few kilobytes and large ones
// would cost more to clear than they save. Its first use is here: what it sets
// up then must not belong to the bubble of a test in fake time.
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

// Decode unpacks what Encode made into v.
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

// EncodeList writes values whose parts are packed already, without packing them
// again.
func EncodeList[T any](list []T) ([]byte, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(list); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return b.Bytes(), nil
}

// DecodeList reads what EncodeList wrote.
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
