"""First room: kopf handlers. Each only says which job to look at again; nothing is decided here."""
