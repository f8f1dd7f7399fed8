package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/courant-platform/courant"
)

// Folder is a data folder that this process holds, and no other can.
type Folder struct {
	Dir  string
	lock *os.File
}

// session is what a running process leaves in its folder for commands, readable
// by its owner alone.
type session struct {
	PID     int    `json:"pid"`
	Address string `json:"address"` // http://…
	Token   string `json:"token"`
}

// OpenFolder creates the folder if there is none and takes its lock, which ends
// with the process. If another process has the lock, the error says which.
func OpenFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, courant.Errorf(courant.Invalid, "data folder: %w", err)
	}
	if err := keepPrivate(dir); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "data folder: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return nil, courant.Errorf(courant.Conflict, "the data folder %s is in use by %s: stop it first, or choose another folder with --data", dir, holder(dir))
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	folder := &Folder{Dir: dir, lock: f}
	return folder, errors.Join(folder.drop(), folder.say(fmt.Sprintf("process %d", os.Getpid())))
}

// keepPrivate closes a data folder to other users, because it has tokens and what feeds say
// to us alone. It does not touch a folder with files of somebody else.
func keepPrivate(dir string) error {
	st, err := os.Stat(dir)
	if err != nil || st.Mode().Perm()&0o077 == 0 {
		return err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return courant.Errorf(courant.Invalid, "data folder: %w", err)
	}
	ours := len(files) == 0
	for _, f := range files {
		ours = ours || f.Name() == "courant.db" || f.Name() == "lock"
	}
	if !ours {
		return courant.Errorf(courant.Invalid, "the data folder %s has other files, and other users can read it: choose a folder of its own with --data, or run chmod 700 %s", dir, dir)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return courant.Errorf(courant.Invalid, "other users can read the data folder %s: %w; run chmod 700 %s as its owner", dir, err, dir)
	}
	return nil
}

// holder is what the process that has the lock wrote about itself.
func holder(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "lock"))
	if err != nil || len(text) == 0 {
		return "another process"
	}
	who := strings.TrimSpace(string(text))
	if s, err := readSession(dir); err == nil && s.Address != "" {
		who += ", which serves " + s.Address
	}
	return who
}

func (f *Folder) say(who string) error {
	if err := f.lock.Truncate(0); err != nil {
		return err
	}
	_, err := f.lock.WriteAt([]byte(who+"\n"), 0)
	return err
}

func (f *Folder) sessionPath() string { return filepath.Join(f.Dir, "run.json") }

func (f *Folder) drop() error {
	if err := os.Remove(f.sessionPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// publish writes address and token for commands.
func (f *Folder) publish(s session) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	part := f.sessionPath() + ".part"
	if err := os.WriteFile(part, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(part, f.sessionPath())
}

// Close removes the session and releases the lock.
func (f *Folder) Close() error { return errors.Join(f.drop(), f.lock.Close()) }

// readSession reads the session of the running process; NotFound if none is running.
func readSession(dir string) (session, error) {
	var s session
	none := courant.Errorf(courant.NotFound, "no courant is running on the data folder %s", dir)
	f, err := os.Open(filepath.Join(dir, "lock"))
	if err != nil {
		return s, none
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil {
		return s, none // nobody holds it: the session is left over from a process that died
	}
	text, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		return s, none
	}
	return s, json.Unmarshal(text, &s)
}
