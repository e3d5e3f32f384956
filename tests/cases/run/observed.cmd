# Checks and statistics, alone and together, as text and JSON, with several host threads.
# RUN: envisa run %r/examples/histogram/job.toml --stats
# RUN: envisa run %r/examples/histogram/job.toml --check
# RUN: envisa run %r/examples/histogram/job.toml --check --stats --jobs 3
# RUN: envisa run %r/examples/histogram/job.toml --check --stats --json --jobs 1
