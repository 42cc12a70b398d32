# cli/job.c: a job that a signal ended is said to have ended well
s/return 128 + WTERMSIG(job->wait_status);/return 0;/
