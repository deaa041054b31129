"""What the methods share that read rows one by one."""
