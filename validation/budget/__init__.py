"""What the approximations behind a fitted model cost, one by one."""
