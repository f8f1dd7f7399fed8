package picture

import (
	"bytes"
	"encoding/binary"
)

const exifName = "Exif\x00\x00"

// orientation reads the tag 0x0112 of a TIFF block (TIFF 6.0, Exif 2.32), 1 to 8; it
// returns 1 if the tag is missing or invalid.
func orientation(tiff []byte) int {
	var order binary.ByteOrder = binary.BigEndian
	switch {
	case bytes.HasPrefix(tiff, []byte("II*\x00")):
		order = binary.LittleEndian
	case !bytes.HasPrefix(tiff, []byte("MM\x00*")):
		return 1
	}
	if len(tiff) < 8 || int64(order.Uint32(tiff[4:])) > int64(len(tiff)-2) {
		return 1
	}
	entries := tiff[order.Uint32(tiff[4:]):]
	n := int(order.Uint16(entries))
	entries = entries[2:]
	for i := 0; i < n && len(entries) >= 12; i, entries = i+1, entries[12:] {
		if order.Uint16(entries) != 0x0112 {
			continue
		}
		if v := int(order.Uint16(entries[8:])); v >= 1 && v <= 8 {
			return v
		}
		return 1
	}
	return 1
}

// orientationOnly is the content of an EXIF segment with only the orientation.
func orientationOnly(turn int) []byte {
	return []byte(exifName + "MM\x00*\x00\x00\x00\x08" +
		"\x00\x01" + "\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(rune(turn)) + "\x00\x00" +
		"\x00\x00\x00\x00")
}
