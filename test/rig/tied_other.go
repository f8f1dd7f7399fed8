//go:build !linux

package rig

import "syscall"

// tied does nothing where the system cannot.
func tied() *syscall.SysProcAttr { return nil }
