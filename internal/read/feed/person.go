package feed

import (
	"slices"
	"strings"

	"github.com/courant-platform/courant"
)

// person reads "mail (Name)", "Name <mail>", "Name (mail)", a mail address or a
// name. The text is decoded; for empty text it returns false.
func (r *reader) person(s string) (courant.Person, bool) {
	s = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s), "mailto:"))
	if s == "" {
		return courant.Person{}, false
	}
	if name, mail, ok := bracketed(s, '<', '>'); ok && isMail(mail) {
		return courant.Person{Name: r.plain(strings.Trim(name, `" `)), Email: mail}, true
	}
	if outer, inner, ok := bracketed(s, '(', ')'); ok {
		switch {
		case isMail(outer):
			return courant.Person{Name: r.plain(inner), Email: outer}, true
		case isMail(inner):
			return courant.Person{Name: r.plain(outer), Email: inner}, true
		}
	}
	if isMail(s) {
		return courant.Person{Email: s}, true
	}
	if first, rest, ok := strings.Cut(s, " "); ok && isMail(first) {
		return courant.Person{Name: r.plain(strings.Trim(rest, "()- ")), Email: first}, true
	}
	if i := strings.LastIndexByte(s, ' '); i > 0 && isMail(s[i+1:]) {
		return courant.Person{Name: r.plain(strings.Trim(s[:i], "-, ")), Email: s[i+1:]}, true
	}
	name := r.plain(s)
	if name == "" {
		r.ignore(r.scan.Raw, "", inContent)
	}
	return courant.Person{Name: name}, name != ""
}

// bracketed splits "outer (inner)".
func bracketed(s string, open, shut byte) (outer, inner string, ok bool) {
	i, j := strings.IndexByte(s, open), strings.LastIndexByte(s, shut)
	if i < 0 || j < i || j != len(s)-1 {
		return "", "", false
	}
	return strings.TrimSpace(s[:i]), strings.TrimSpace(strings.TrimPrefix(s[i+1:j], "mailto:")), true
}

// isMail reports whether text looks like a mail address and nothing else.
func isMail(s string) bool {
	at := strings.IndexByte(s, '@')
	return at > 0 && at < len(s)-1 && !strings.ContainsAny(s, " \t\n<>(),;:\"") && strings.Count(s, "@") == 1
}

// addPerson appends a person, or completes the one with the same name or address.
func (r *reader) addPerson(list []courant.Person, p courant.Person) []courant.Person {
	for i := range list {
		q := &list[i]
		if p.Name != "" && p.Name == q.Name || p.Email != "" && p.Email == q.Email {
			q.Name, q.Email, q.URL = firstOf(q.Name, p.Name), firstOf(q.Email, p.Email), firstOf(q.URL, p.URL)
			return list
		}
	}
	if len(list) >= maxList {
		r.cut.authors++
		return list
	}
	return append(list, p)
}

// addWords appends the words of a comma-separated list.
func (r *reader) addWords(list []string, words string) []string {
	for w := range strings.SplitSeq(words, ",") {
		list = r.addWord(list, w)
	}
	return list
}

// addWord appends a category unless it is in the list.
func (r *reader) addWord(list []string, word string) []string {
	if word = r.plain(word); word == "" || slices.Contains(list, word) {
		return list
	}
	if len(list) >= maxList {
		r.cut.categories++
		return list
	}
	return append(list, word)
}
