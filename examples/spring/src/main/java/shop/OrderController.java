package shop;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.orm.jpa.JpaSystemException;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/orders")
class OrderController {
  record NewOrder(String customer) {}

  private final Orders orders;

  OrderController(Orders orders) {
    this.orders = orders;
  }

  @PostMapping
  @ResponseStatus(HttpStatus.CREATED)
  Order place(@RequestBody NewOrder order) {
    return orders.save(new Order(order.customer()));
  }

  @GetMapping("/{id}")
  ResponseEntity<Order> find(@PathVariable long id) {
    return ResponseEntity.of(orders.findById(id));
  }

  /** Spring 6.2 takes a database that hung up for a client that did, and would answer with 200 and nothing else. */
  @ExceptionHandler({TransactionException.class, DataAccessResourceFailureException.class, JpaSystemException.class})
  @ResponseStatus(HttpStatus.SERVICE_UNAVAILABLE)
  void databaseIsDown() {}
}
