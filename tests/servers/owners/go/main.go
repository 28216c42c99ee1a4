// Draws ids that have an owner: ../draw.py says how.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"log"
	"os"
	"strconv"

	idgen "github.com/idgen/idgen/go"
)

func main() {
	const batch = 4096
	ctx := context.Background()
	generator, err := idgen.Open(ctx, os.Args[1], os.Args[2])
	check(err)
	count, err := strconv.Atoi(os.Args[3])
	check(err)
	seed, err := strconv.Atoi(os.Args[4])
	check(err)
	file, err := os.Create(os.Args[5])
	check(err)
	out := bufio.NewWriter(file)
	owners, ids := make([]int64, batch), make([]int64, batch)
	for done := 0; done < count; done += batch {
		for i := range owners {
			owners[i] = int64((seed + done + i) % 1_000_003)
		}
		_, err := generator.FillForEach(idgen.OwnersInt(owners), ids)
		check(err)
		check(binary.Write(out, binary.LittleEndian, ids))
	}
	check(out.Flush())
	check(file.Close())
	check(generator.Close(ctx))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
