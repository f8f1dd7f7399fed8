package words

import (
	"bufio"
	"io"
	"strings"
)

// Synonyms are groups of synonyms, and stop words.
type Synonyms struct {
	groups map[string][]string
	stop   map[string]bool
}

// Default are the stop words of some languages, and no synonyms.
func Default() Synonyms {
	s := Synonyms{groups: map[string][]string{}, stop: map[string]bool{}}
	s.stopAll("a an and for in of on or the to with für und der die das mit von el la los las de para con y в и на для из с по от к")
	return s
}

func (s *Synonyms) stopAll(text string) {
	for _, w := range All(text) {
		s.stop[w] = true
	}
}

// ReadSynonyms reads a group of words per line, separated by commas. Lines that begin
// with # are comments. Lines that begin with "stop:" have stop words, which replace the
// default ones.
func ReadSynonyms(r io.Reader) (Synonyms, error) {
	s := Default()
	usual := true
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if list, is := strings.CutPrefix(line, "stop:"); is {
			if usual {
				s.stop, usual = map[string]bool{}, false
			}
			s.stopAll(list)
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		var group []string
		for part := range strings.SplitSeq(line, ",") {
			if w := All(part); len(w) == 1 {
				group = append(group, w[0])
			}
		}
		for _, w := range group {
			s.groups[w] = append(s.groups[w], group...)
		}
	}
	return s, lines.Err()
}

// Of are the synonyms of a word, including itself; nil if there are none.
func (s Synonyms) Of(word string) []string { return s.groups[word] }

// Stops reports whether a word is a stop word.
func (s Synonyms) Stops(word string) bool { return s.stop[word] }
