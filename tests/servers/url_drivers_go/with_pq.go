//go:build with_pq

package main

import "github.com/lib/pq"

func init() { causes = append(causes, as[*pq.Error]) }
