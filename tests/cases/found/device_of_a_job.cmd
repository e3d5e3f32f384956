An unknown device was said to be another one: "vadd.zebin is for pvc, not arc".
# RUN: envisa run %r/examples/vadd/job.toml --device arc
# RUN: envisa run %r/examples/vadd/job.toml --device dg2
