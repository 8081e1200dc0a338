"""The causal diagram of a program, to read, to plot and to put into a paper."""
