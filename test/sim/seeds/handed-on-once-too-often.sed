# cohort.c: a grant is handed on once more than is allowed, whoever waits outside
s/cohort->passes < cohort->most_passes/cohort->passes <= cohort->most_passes/
