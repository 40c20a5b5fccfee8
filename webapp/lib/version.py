"""The version of Millrace."""

VERSION = "0.1.0"
