"""The OpenAPI description, made from the operations that are served."""
