"""The papers' tables and figures, run again: what is printed next to what comes out here."""
