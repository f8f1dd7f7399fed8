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
	const frozen = "6ad2922fa2ed6d90f735105b997db1fca8cf27b17100c0126850ba87814e2925"
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != frozen {
		t.Errorf("00001_start.sql has changed (SHA-256 %x): existing databases were made by it; add a migration instead", sum)
	}
}
