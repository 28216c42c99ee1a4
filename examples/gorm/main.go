// Orders over HTTP, with GORM on PostgreSQL and ids from idgen.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/idgen/idgen/go"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

// Order is a row of the table orders.
type Order struct {
	ID       int64  `json:"id" gorm:"autoIncrement:false"`
	Customer string `json:"customer"`
}

var orderIDs *idgen.LazyGenerator

// BeforeCreate draws the order's id. GORM calls it for each order that it is about to insert.
func (o *Order) BeforeCreate(tx *gorm.DB) (err error) {
	o.ID, err = orderIDs.NextContext(tx.Statement.Context)
	return err
}

func main() {
	if err := serve(os.Getenv("PORT"), os.Getenv("DATABASE_URL")); err != nil {
		log.Fatal(err)
	}
}

// serve listens until SIGTERM, and answers the requests that have begun.
func serve(port, database string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()

	config, err := pgx.ParseConfig(database)
	if err != nil {
		return err
	}
	rows := stdlib.OpenDB(*config)
	rows.SetMaxOpenConns(10)
	defer rows.Close()
	db, err := gorm.Open(postgres.New(postgres.Config{Conn: rows}), &gorm.Config{})
	if err != nil {
		return err
	}
	grants := stdlib.OpenDB(*config) // idgen's own: those who wait for an id may hold all connections of the rows' pool
	grants.SetMaxOpenConns(2)
	defer grants.Close()
	store := idgen.NewSQLStore(grants, idgen.Postgres)
	orderIDs = idgen.NewLazy(idgen.WithKind("segment"), idgen.WithTag("orders"), idgen.WithHostStore(store))

	server := &http.Server{Addr: ":" + port, Handler: orders{db}.handler(), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	err = server.Shutdown(ending)
	return errors.Join(err, orderIDs.Close(ending)) // what is left of its numbers goes back to the database
}

type orders struct{ db *gorm.DB }

func (o orders) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", o.place)
	mux.HandleFunc("GET /orders/{id}", o.find)
	return mux
}

func (o orders) place(w http.ResponseWriter, r *http.Request) {
	order := Order{}
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := o.db.WithContext(r.Context()).Create(&order).Error; err != nil {
		unavailable(w, err)
		return
	}
	answer(w, http.StatusCreated, order)
}

func (o orders) find(w http.ResponseWriter, r *http.Request) {
	order := Order{}
	err := o.db.WithContext(r.Context()).First(&order, "id = ?", r.PathValue("id")).Error
	switch {
	case errors.Is(err, gorm.ErrRecordNotFound):
		http.NotFound(w, r)
	case err != nil:
		unavailable(w, err)
	default:
		answer(w, http.StatusOK, order)
	}
}

// The log has the reason, and the client has not: it may name hosts, users and values of rows.
func unavailable(w http.ResponseWriter, err error) {
	log.Print(err)
	http.Error(w, "not possible now; try again", http.StatusServiceUnavailable)
}

func answer(w http.ResponseWriter, status int, order Order) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(order)
}
