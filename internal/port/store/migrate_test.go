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
	const frozen = "a9446486d22784de39fe2c9ef063f70d5c3ed1678bcf47253667103531acbdec"
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != frozen {
		t.Errorf("00001_start.sql has changed (%x): databases have been made by it; add a migration instead", sum)
	}
}
