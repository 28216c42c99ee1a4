package shop;

import org.springframework.data.jpa.repository.JpaRepository;

interface Orders extends JpaRepository<Order, Long> {}
