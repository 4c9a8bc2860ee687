"""The one error a person is meant to read: a sentence that names what is wrong, its value, and what would be right."""


class Trouble(Exception):
    """Something the person at the keyboard can do something about; shown without a traceback."""
