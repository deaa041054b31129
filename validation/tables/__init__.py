"""The papers' tables and figures, run again: what is printed beside what comes out here."""
