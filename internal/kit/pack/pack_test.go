package pack_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/klauspost/compress/zstd"

	"github.com/courant-platform/courant/internal/kit/pack"
)

func TestPackedValuesRoundTripConcurrently(t *testing.T) {
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			text := strings.Repeat(fmt.Sprint("text ", i, " "), 10*i)
			packed, err := pack.Encode(map[string]string{"a": text})
			if err != nil {
				t.Error(err)
				return
			}
			var back map[string]string
			if err := pack.Decode(packed, &back); err != nil || back["a"] != text {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	all.Wait()
}

func TestItWorksInSeveralSynctestBubbles(t *testing.T) {
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			if text, err := pack.Open(pack.Bytes([]byte("text"))); err != nil || string(text) != "text" {
				t.Errorf("got %q, %v", text, err)
			}
		})
	}
}

func TestInvalidDataAndBombsAreErrors(t *testing.T) {
	bomb, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for what, packed := range map[string][]byte{
		"text": []byte("text"), "cut off": pack.Bytes(bytes.Repeat([]byte("text"), 100))[:10], "a bomb": bomb.EncodeAll(make([]byte, 65<<20), nil),
	} {
		if text, err := pack.Open(packed); err == nil {
			t.Errorf("%s: %d bytes", what, len(text))
		}
	}
	var v map[string]string
	if err := pack.Decode(pack.Bytes([]byte("[1]")), &v); err == nil {
		t.Error("the wrong value is no error")
	}
}
