# Findings for machines: suppressed, as a baseline, as annotations, as SARIF; and what makes the exit code 1.
# RUN: envisa run %r/examples/race/job.toml --write-baseline %t/known --annotate github
# RUN: cat %t/known
# RUN: envisa run %r/examples/race/job.toml --suppress %t/known
# RUN: envisa run %r/examples/race/job.toml --fail-on fault --sarif %t/race.sarif --annotate github
# RUN: envisa run %r/examples/race/job.toml --suppress %s
