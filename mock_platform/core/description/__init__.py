"""The machine-readable description (OpenAPI), made from the operations that are served."""
