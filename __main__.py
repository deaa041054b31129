from .validation.cli import main

raise SystemExit(main())
