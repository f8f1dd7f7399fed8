package link_test

import (
	"testing"

	"github.com/courant-platform/courant/internal/kit/link"
)

func TestNoSecretOfAnAddressIsShown(t *testing.T) {
	for address, want := range map[string]string{
		"":                                              "",
		"postgres://db.example/courant":                 "postgres://db.example/courant",
		"postgres://me:secret@db/courant":               "postgres://xxxxx@db/courant",
		"postgres://me:p@ss@db1,db2/c?a=b":              "postgres://xxxxx@db1,db2/c?a=b",
		"nats://a:b@one:4222,nats://c@two":              "nats://xxxxx@one:4222,nats://xxxxx@two",
		"nats://one,nats://c:d@two,tls://x":             "nats://one,nats://xxxxx@two,tls://x",
		"postgres://db/c?password=secret&x=1":           "postgres://db/c?password=xxxxx&x=1",
		"host=db user=me password=secret dbname=c":      "host=db user=me password=xxxxx dbname=c",
		`host=db password='a \' b' sslpassword = other`: "host=db password=xxxxx sslpassword = xxxxx",
		"http://proxy:3128":                             "http://proxy:3128",
		"http://a:b@proxy":                              "http://xxxxx@proxy",
	} {
		if got := link.Redact(address); got != want {
			t.Errorf("%s is shown as %s, want %s", address, got, want)
		}
	}
}
