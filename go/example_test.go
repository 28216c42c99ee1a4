package idgen_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/idgen/idgen/go"
)

func Example() {
	ctx := context.Background()
	orders, err := idgen.New(ctx, idgen.WithKind("segment"), idgen.WithTag("orders"),
		idgen.WithStore("memory:example"), idgen.WithStoreCreate(true))
	if err != nil {
		log.Fatal(err)
	}
	defer orders.Close(ctx)
	id, err := orders.Next()
	fmt.Println(id, err)
	// Output: 1 <nil>
}

func ExampleGenerator_Fill() {
	ctx := context.Background()
	orders, err := idgen.New(ctx, idgen.Options{
		"kind": "segment", "tag": "orders", "store": "memory:fill", "store_create": "true",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer orders.Close(ctx)
	ids := make([]int64, 1000)
	n, err := orders.Fill(ids)
	fmt.Println(n, err, ids[0], ids[999])
	// Output: 1000 <nil> 1 1000
}

func ExampleGenerator_All() {
	ctx := context.Background()
	orders, err := idgen.New(ctx, idgen.Options{
		"kind": "segment", "tag": "orders", "store": "memory:all", "store_create": "true",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer orders.Close(ctx)
	for id, err := range orders.All() {
		if err != nil || id > 3 {
			break
		}
		fmt.Println(id)
	}
	// Output:
	// 1
	// 2
	// 3
}

func ExampleGenerator_NextContext() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	orders, err := idgen.New(ctx, idgen.Options{
		"kind": "segment", "tag": "orders", "store": "memory:context", "store_create": "true",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer orders.Close(ctx)
	id, err := orders.NextContext(ctx)
	fmt.Println(id, err)
	// Output: 1 <nil>
}

func ExampleParseLayout() {
	twitter, err := idgen.ParseLayout("twitter", "")
	if err != nil {
		log.Fatal(err)
	}
	parts, err := twitter.Decode(1541815603606036480)
	fmt.Println(parts.Timestamp().Format(time.RFC3339Nano), parts.Sequence, err)
	// Output: 2022-06-28T16:07:40.105Z 0 <nil>
}

func ExampleFormat() {
	text, err := idgen.Format(1541815603606036480, idgen.Hex)
	fmt.Println(text, err)
	// Output: 1565a11f6217a000 <nil>
}

func ExampleError() {
	ctx := context.Background()
	_, err := idgen.New(ctx, idgen.Options{"wroker": "1"})
	var e *idgen.Error
	if errors.As(err, &e) {
		fmt.Println(e.Name(), e.Retryable())
	}
	fmt.Println(errors.Is(err, idgen.ErrUnknownKey))
	// Output:
	// UNKNOWN_KEY false
	// true
}
