package websub

import "testing"

func FuzzASignatureIsNeverTakenForAnother(f *testing.F) {
	for _, s := range []string{"sha1=", "sha256=00", "SHA512=ff", "=", "", "sha384", "sha256=" + "0011223344556677889900112233445566778899001122334455667788990011"} {
		f.Add(s, "body")
	}
	f.Fuzz(func(t *testing.T, header, body string) {
		s := parseSignature(header)
		if (s.hash == nil) != (s.sum == nil) || s.hash != nil && len(s.sum) != s.hash().Size() {
			t.Errorf("%q: a sum of %d bytes", header, len(s.sum))
		}
		if s.of([]byte(body), []string{"a secret that nobody knows"}) {
			t.Errorf("%q signs %q", header, body)
		}
	})
}
