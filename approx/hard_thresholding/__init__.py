"""At most k nonzero weights, by hard thresholding. [SHT]"""
