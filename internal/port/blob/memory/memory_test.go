package memory_test

import (
	"testing"

	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/blob/blobtest"
	"github.com/courant-platform/courant/internal/port/blob/memory"
)

func TestMemory(t *testing.T) {
	blobtest.Run(t, func(*testing.T) blob.Driver { return &memory.Memory{} })
}
