//! Native code compared with the interpreter: both run the same kernels, and leave the same bytes and the same faults. Most
//! kernels are generated, each module for one kind of code. `ENVISA_LEVEL=avx2` tests native code for CPUs without AVX-512.

mod addresses;
mod kernels;
mod launch_compares;
mod random;

mod adjacent_elements;
mod alignment_checks;
mod atomics;
mod barriers;
mod byte_vectors;
mod cached_rows;
#[cfg(target_os = "linux")]
mod compile_time;
mod concurrent_launches;
mod conditions;
mod counted_indices;
mod float_modes;
mod images;
mod index_arithmetic;
mod indirect_operands;
mod integer_operations;
mod math_unit;
mod merged_halves;
mod moved_pointers;
mod narrow_rows;
mod narrow_words;
mod operand_shapes;
mod partial_vectors;
mod pointers_by_value;
mod prefetched_atomics;
mod prefetched_rows;
mod repeated_launches;
mod separate_halves;
mod state_addresses;
mod straight_chains;
mod structured_code;
#[cfg(target_arch = "x86_64")]
mod systolic;
mod thread_start;
mod varying_surfaces;
mod vector_compute;
mod wide_choices;
mod wide_indices;
mod wide_logic;
mod wide_products;
