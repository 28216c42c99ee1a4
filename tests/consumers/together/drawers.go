//go:build idgen_system

// Goroutines, and threads of C, that a JVM starts: a library of Go's that shares the JVM's libidgen.
package main

/*
#include <jni.h>
#include <stdint.h>

static void *address_of(JNIEnv *env, jobject buffer) { return (*env)->GetDirectBufferAddress(env, buffer); }
int draw_in_c(uint64_t *ids, int threads, int each);
*/
import "C"

import (
	"context"
	"fmt"
	"os"
	"sync"
	"unsafe"

	idgen "github.com/idgen/idgen/go"
)

//export Java_Together_drawInC
func Java_Together_drawInC(env *C.JNIEnv, _ C.jclass, ids C.jobject, threads, each C.jint) C.jboolean {
	return C.jboolean(C.draw_in_c((*C.uint64_t)(C.address_of(env, ids)), C.int(threads), C.int(each)))
}

//export Java_Together_drawInGo
func Java_Together_drawInGo(env *C.JNIEnv, _ C.jclass, ids C.jobject, threads, each C.jint) C.jboolean {
	err := draw(unsafe.Slice((*int64)(C.address_of(env, ids)), threads*each), int(each))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 0
	}
	return 1
}

func draw(ids []int64, each int) error {
	ctx := context.Background()
	events, err := idgen.Open(ctx, "idgen.toml", "events")
	if err != nil {
		return err
	}
	defer events.Close(ctx)
	var all sync.WaitGroup
	failures := make(chan error, len(ids)/each)
	for first := 0; first < len(ids); first += each {
		all.Go(func() {
			for i := range each {
				id, err := events.Next()
				if err != nil {
					failures <- err
					return
				}
				ids[first+i] = id
			}
		})
	}
	all.Wait()
	close(failures)
	return <-failures // nil if there is none
}

func main() {}
