package sample

import (
	"bytes"
	"image/jpeg"
	"image/png"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// album draws pictures on demand and caches some.
type album struct {
	// mu guards drawn, and is held while a picture is drawn.
	mu    sync.Mutex
	drawn map[string][]byte
}

const remembered = 64 // pictures

// picture is the file for an address such as …/sails-dusk-7.jpg: motif, hour and a
// seed, so that each number gives a different scene; nil if the address has another form.
func (a *album) picture(address string) []byte {
	name := address[strings.LastIndexByte(address, '/')+1:]
	parts := regexp.MustCompile(`^([a-z]+)(?:-([a-z]+))?-([0-9]{1,5})\.(jpg|png)$`).FindStringSubmatch(name)
	if parts == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if body := a.drawn[name]; body != nil {
		return body
	}
	number, err := strconv.Atoi(parts[3])
	if err != nil {
		return nil
	}
	m := scene(parts[1], parts[2], uint64(number))
	var b bytes.Buffer
	if parts[4] == "png" {
		err = png.Encode(&b, m)
	} else {
		err = jpeg.Encode(&b, m, &jpeg.Options{Quality: 84})
	}
	if err != nil {
		return nil
	}
	if a.drawn == nil || len(a.drawn) >= remembered {
		a.drawn = map[string][]byte{}
	}
	a.drawn[name] = b.Bytes()
	return b.Bytes()
}
