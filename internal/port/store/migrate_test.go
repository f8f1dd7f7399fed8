package store_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"
)

func TestTheFirstVersionOfTheTablesIsFrozen(t *testing.T) {
	text, err := os.ReadFile("migrations/00002_start.sql")
	if err != nil {
		t.Fatal(err)
	}
	const frozen = "9dc67b22502f3a1ac2e3833fa9be4744acc22fab95f7c225a0c9854a0ad99c2d"
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != frozen {
		t.Errorf("00002_start.sql has changed (SHA-256 %x): existing databases were made by it; add a migration instead", sum)
	}
}
