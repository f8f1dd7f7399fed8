package store_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"
)

func TestVersionOneOfTheTablesIsFrozen(t *testing.T) {
	text, err := os.ReadFile("migrations/00001_start.sql")
	if err != nil {
		t.Fatal(err)
	}
	const frozen = "45fd8e0b3ef317aa6ca44d149c7e9df19a0670a967db3eedb250c87e227e3d58"
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != frozen {
		t.Errorf("00001_start.sql has changed (SHA-256 %x): existing databases were made by it; add a migration instead", sum)
	}
}
