//go:build !linux

package rig

import "syscall"

// tied does nothing on systems without such a setting.
func tied() *syscall.SysProcAttr { return nil }
