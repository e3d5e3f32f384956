//! Kernels, conformance and benchmarks of envisa against its peers.
