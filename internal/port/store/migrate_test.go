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
	const frozen = "93b4b69631054bbd6eac7afc477bc11aa7797b6b99e0415c1f201a79eac0253b"
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != frozen {
		t.Errorf("00001_start.sql has changed (SHA-256 %x): existing databases were made by it; add a migration instead", sum)
	}
}
