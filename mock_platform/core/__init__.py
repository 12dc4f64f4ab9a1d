"""What every operation is built from, and the pipeline that each request runs through."""
