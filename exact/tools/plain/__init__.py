"""Plain forms of compiled loops: the same bits by passes of numpy, until compiling pays."""
