package shop;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

@Entity
@Table(name = "orders")
class Order {
  @Id @OrderIds.Drawn private Long id;
  private String customer;

  protected Order() {}

  Order(String customer) {
    this.customer = customer;
  }

  public Long getId() {
    return id;
  }

  public String getCustomer() {
    return customer;
  }
}
