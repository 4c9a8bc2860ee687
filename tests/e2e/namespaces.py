"""What the operator of the e2e tests is called, and where its jobs are."""

RELEASE = "e2e-operator"  # and its namespace
JOBS, LEAVING = "e2e-jobs", "e2e-leaving"
