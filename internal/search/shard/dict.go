package shard

import "strings"

// dict numbers texts from 1; 0 is the empty text.
type dict struct {
	ids   map[string]uint32
	names []string
}

// id is the number of a text, a new one if it is unknown.
func (d *dict) id(text string) uint32 {
	if text == "" {
		return 0
	}
	if id, ok := d.ids[text]; ok {
		return id
	}
	if d.ids == nil {
		d.ids, d.names = map[string]uint32{}, []string{""}
	}
	id := uint32(len(d.names))
	text = strings.Clone(text)
	d.ids[text] = id
	d.names = append(d.names, text)
	return id
}

// idOf is id for bytes, which are copied only if they are new.
func (d *dict) idOf(text []byte) uint32 {
	if id, ok := d.ids[string(text)]; ok {
		return id
	}
	return d.id(string(text))
}

// find is the number of a text, 0 if it is unknown.
func (d *dict) find(text string) uint32 { return d.ids[text] }

// name is the text of a number.
func (d *dict) name(id uint32) string {
	if id == 0 {
		return ""
	}
	return d.names[id]
}

// len is one more than the greatest number.
func (d *dict) len() int { return max(len(d.names), 1) }
