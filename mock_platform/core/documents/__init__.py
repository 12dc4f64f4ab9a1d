"""Documents that users write: read with the places of all parts, and checked against forms."""
