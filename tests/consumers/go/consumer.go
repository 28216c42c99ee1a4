// Somebody else's module: makes ids and checks them.
package main

import (
	"context"
	"fmt"
	"log"

	idgen "github.com/idgen/idgen/go"
)

func main() {
	ctx := context.Background()
	events, err := idgen.New(ctx, idgen.Options{"kind": "snowflake", "worker": "7", "store": "sqlite:ids.db",
		"store_create": "true"})
	if err != nil {
		log.Fatal(err)
	}
	ids := make([]int64, 10_000)
	if _, err := events.Fill(ids); err != nil {
		log.Fatal(err)
	}
	for i := 1; i < len(ids); i++ {
		if ids[i] <= ids[i-1] {
			log.Fatalf("%d after %d", ids[i], ids[i-1])
		}
	}
	parts, err := events.Decode(ids[0])
	if err != nil || parts.Worker != 7 {
		log.Fatalf("id %d decodes to %+v, %v", ids[0], parts, err)
	}
	if err := events.Close(ctx); err != nil {
		log.Fatal(err)
	}

	orders, err := idgen.New(ctx, idgen.Options{"kind": "segment", "tag": "orders", "store": "sqlite:ids.db",
		"store_create": "true"})
	if err != nil {
		log.Fatal(err)
	}
	defer orders.Close(ctx)
	if id, err := orders.Next(); err != nil || id != 1 {
		log.Fatalf("a new segment tag begins with %d, %v, not with 1", id, err)
	}
	fmt.Println(ids[0])
}
