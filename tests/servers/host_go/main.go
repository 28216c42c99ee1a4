// The twin of tests/servers/host_drawing.py, which says what it does. Run by tests/servers/test_host_stores.py.
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
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/idgen/idgen/go"
	"github.com/jackc/pgx/v5/pgconn"
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
		db.SetMaxOpenConns(1) // a store that does not return it gets no other
		store := idgen.NewSQLStore(db, dialect)
		if os.Args[2] != "emptied" {
			store.PoolTimeout = 30 * time.Second // however busy the machine is
		}
		options = append(options, idgen.WithHostStore(store))
		if scene, known := scenes[os.Args[2]]; known {
			scene(db, store, properties["tag"], properties["namespace"], options)
			return
		}
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

// The twins of those in host_drawing.py.
var scenes = map[string]func(db *sql.DB, store *idgen.SQLStore, tag, namespace string, options []idgen.Option){
	"tags": func(_ *sql.DB, store *idgen.SQLStore, tag, _ string, _ []idgen.Option) {
		maxID := func(info idgen.SegmentInfo, err error) (any, error) { return info.MaxID, err }
		tell("None", store.CreateSegment(context.Background(), "default", tag))
		tell("None", store.CreateSegment(context.Background(), "default", tag))
		info, err := store.ShowSegment(context.Background(), "default", tag)
		tell(fmt.Sprint(info.MaxID, info.Grants), err)
		tell(maxID(store.AdvanceSegment(context.Background(), "default", tag, 1000)))
		tell(maxID(store.AdvanceSegment(context.Background(), "default", tag, 10)))
		rows, err := store.ListSegments(context.Background())
		rows = slices.DeleteFunc(rows, func(row idgen.SegmentRow) bool { return row.Tag != tag })
		tell(maxIDs(rows), err)
		tell(maxID(store.ShowSegment(context.Background(), "nobody", tag)))
	},
	"inside": func(db *sql.DB, _ *idgen.SQLStore, tag, _ string, options []idgen.Option) {
		run(db, "BEGIN", "INSERT INTO idgen_segment(ns, tag, max_id) VALUES('theirs', '"+tag+"', 7)")
		_, err := idgen.New(context.Background(), options...)
		tell("", err)
		run(db, "COMMIT")
	},
	"emptied": func(db *sql.DB, _ *idgen.SQLStore, _, _ string, options []idgen.Option) {
		generator, err := idgen.New(context.Background(), options...)
		if err != nil {
			log.Fatal(err)
		}
		mine, err := db.Conn(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		began := time.Now()
		_ = draw(generator, 1000)
		fmt.Println(time.Since(began).Milliseconds())
		_ = mine.Close()
		for draw(generator, 10) != nil {
			runtime.Gosched()
		}
		_ = generator.Close(context.Background())
	},
	"cause": func(_ *sql.DB, _ *idgen.SQLStore, _, _ string, options []idgen.Option) {
		_, err := idgen.New(context.Background(), options...)
		var ofMySQL *mysql.MySQLError
		var ofPostgres *pgconn.PgError
		fmt.Println(errors.As(err, &ofMySQL) || errors.As(err, &ofPostgres))
	},
	"tables": func(_ *sql.DB, store *idgen.SQLStore, _, _ string, _ []idgen.Option) {
		tell("None", store.CreateTables(context.Background()))
		tell("None", store.CreateTables(context.Background()))
	},
	"workers": func(_ *sql.DB, store *idgen.SQLStore, _, namespace string, _ []idgen.Option) {
		found, err := store.WorkerList(context.Background(), namespace)
		tell(len(found), err)
		for _, row := range found {
			fmt.Println(row.Worker, row.Fence, row.HwMs, row.IsLive, row.Holder)
		}
	},
}

func maxIDs(rows []idgen.SegmentRow) string {
	words := []string{}
	for _, row := range rows {
		words = append(words, strconv.FormatInt(row.MaxID, 10))
	}
	return strings.Join(words, " ")
}

func tell(what any, err error) {
	if err != nil {
		what = said(err)
	}
	fmt.Println(what)
}

func run(db *sql.DB, statements ...string) {
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			log.Fatal(err)
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
