// The twin of tests/backends/host_drawing.py, which says what it does. Run by tests/backends/test_host_stores.py.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/idgen/idgen/go"
	_ "github.com/jackc/pgx/v5/stdlib"
)

type broken struct{ text string }

func (b broken) Connect(context.Context) (driver.Conn, error) { return nil, errors.New(b.text) }
func (b broken) Driver() driver.Driver                        { return nil }

func main() {
	properties := idgen.Options{}
	pool := map[string]string{}
	for _, pair := range os.Args[3:] {
		key, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(key, "pool.") {
			pool[key] = value
		} else {
			properties[key] = value
		}
	}
	options := []idgen.Option{properties}
	if os.Args[1] != "native" {
		db, dialect := open(os.Args[1], pool)
		db.SetMaxOpenConns(1) // a store that does not give it back gets no other
		options = append(options, idgen.WithHostStore(idgen.NewSQLStore(db, dialect)))
	}
	if what := os.Args[2]; what == "statements" || what == "max_of" {
		fmt.Print(told(what, properties))
		return
	}
	batch, err := strconv.Atoi(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	generator, err := idgen.New(context.Background(), options...)
	if err != nil {
		fmt.Println(said(err))
		os.Exit(status(err))
	}
	if batch == 0 {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			count, _ := strconv.Atoi(lines.Text())
			_ = draw(generator, count)
		}
		if err := generator.Close(context.Background()); err != nil {
			log.Fatal(err)
		}
		return
	}
	for {
		if err := draw(generator, batch); err != nil && status(err) == 1 {
			os.Exit(1)
		}
	}
}

func open(address string, pool map[string]string) (*sql.DB, idgen.Dialect) {
	at, err := url.Parse(address)
	if err != nil {
		log.Fatal(err)
	}
	dialect := idgen.Postgres
	name, source := "pgx", address+"?connect_timeout=5"
	if at.Scheme == "mysql" {
		dialect = idgen.MySQL
		config := mysql.NewConfig()
		config.Net, config.Addr, config.DBName = "tcp", at.Host, strings.TrimPrefix(at.Path, "/")
		config.User = at.User.Username()
		config.Passwd, _ = at.User.Password()
		config.Timeout, config.ReadTimeout, config.WriteTimeout = 5*time.Second, 5*time.Second, 5*time.Second
		if pool["pool.autocommit"] == "false" {
			config.Params = map[string]string{"autocommit": "0"}
		}
		name, source = "mysql", config.FormatDSN()
	}
	if text := pool["pool.broken"]; text != "" {
		return sql.OpenDB(broken{text}), dialect
	}
	db, err := sql.Open(name, source)
	if err != nil {
		log.Fatal(err)
	}
	return db, dialect
}

func told(what string, properties idgen.Options) string {
	if what == "statements" {
		text, err := idgen.SegmentStatements(properties)
		if err != nil {
			return said(err) + "\n"
		}
		return text
	}
	table, column := properties["table"], properties["column"]
	delete(properties, "table")
	delete(properties, "column")
	largest, err := idgen.SegmentMaxOf(table, column, properties)
	if err != nil {
		return said(err) + "\n"
	}
	return strconv.FormatInt(largest, 10) + "\n"
}

func draw(generator *idgen.Generator, count int) error {
	ids := make([]int64, count)
	written, err := generator.Fill(ids)
	words := make([]string, 0, written+1)
	for _, id := range ids[:written] {
		words = append(words, strconv.FormatInt(id, 10))
	}
	if err != nil {
		words = append(words, said(err))
	}
	fmt.Println(strings.Join(words, " "))
	return err
}

func said(err error) string {
	var e *idgen.Error
	if !errors.As(err, &e) {
		return "!? " + err.Error()
	}
	return "!" + e.Name() + " " + strings.ReplaceAll(e.Message, "\n", " ")
}

func status(err error) int {
	var e *idgen.Error
	if errors.As(err, &e) && e.Retryable() {
		return 75
	}
	return 1
}
