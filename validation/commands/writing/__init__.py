"""What commands leave: the folder of `--out`, documents, tables on a terminal, and progress."""
