bind = "0.0.0.0:8000"
workers = 2
worker_class = "uvicorn_worker.UvicornWorker"
timeout = 75  # more than the 60 s in which a process that starts waits for the store
graceful_timeout = 30  # for the requests that are under way when it is told to stop
control_socket_disable = True  # else it writes into a home folder
