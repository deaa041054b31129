"""The square loss as moments or as an average over rows, on supports too."""
