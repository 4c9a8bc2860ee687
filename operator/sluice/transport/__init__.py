"""The wire to the API server: whom to ask, as whom, and how often again. For observe's reads and act's writes."""
