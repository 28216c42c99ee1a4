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

func ExampleGenerator_NextFor() {
	ctx := context.Background()
	orders, err := idgen.New(ctx, idgen.Options{
		"kind": "business", "tag": "orders", "store": "memory:owners", "store_create": "true",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer orders.Close(ctx)
	acme, err := orders.NextFor(idgen.OwnerString("acme"))
	if err != nil {
		log.Fatal(err)
	}
	again, err := orders.NextFor(idgen.OwnerString("acme"))
	if err != nil {
		log.Fatal(err)
	}
	const gene = 63 - 16 // bits below it
	fmt.Println(acme>>gene == again>>gene, again-acme)
	// Output: true 1
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

func ExampleNewUUID7() {
	id, err := idgen.NewUUID7()
	if err != nil {
		log.Fatal(err)
	}
	parts, err := idgen.DecodeStandard(idgen.StandardUUID7, id[:])
	fmt.Println(parts.Standard, parts.Version, time.Since(parts.Time) < time.Minute, err)
	// Output: uuid7 7 true <nil>
}

func ExampleParseStandard() {
	standard, id, err := idgen.ParseStandard("017F22E2-79B0-7CC3-98C4-DC0C0C07398F")
	if err != nil {
		log.Fatal(err)
	}
	parts, err := idgen.DecodeStandard(standard, id)
	fmt.Println(standard, parts.Time.Format(time.RFC3339Nano), err)
	text, err := idgen.FormatStandard(standard, id)
	fmt.Println(text, err)
	// Output:
	// uuid7 2022-02-22T19:22:22Z <nil>
	// 017f22e2-79b0-7cc3-98c4-dc0c0c07398f <nil>
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
